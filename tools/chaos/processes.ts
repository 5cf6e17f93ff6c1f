import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a local run has for functions of these names; from /proc, Linux only. */
export function functionProcesses(runProcessId: number, names: RegExp): readonly number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === runProcessId)
    .filter(name => {
      const found = /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(read(`/proc/${name}/environ`))?.[1];
      return found !== undefined && names.test(found);
    })
    .map(Number);
}

function parentOf(processId: string): number {
  return Number(read(`/proc/${processId}/stat`).split(') ').at(-1)?.split(' ')[1]);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
