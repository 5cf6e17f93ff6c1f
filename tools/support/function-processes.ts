import { readdirSync, readFileSync } from 'node:fs';

/** Returns the processor time of a function's processes that descend from this process, in milliseconds. It requires Linux (`/proc`). */
export function processorTime(functionName: RegExp): number {
  const processes = readProcesses();
  const own = functionProcesses(functionName, process.pid, processes);
  return own.reduce((sum, id) => sum + (processes.get(id)?.ticks ?? 0), 0) / ticksPerMillisecond;
}

/** Returns the descendants of a process that run a function. */
function functionProcesses(
  functionName: RegExp,
  ancestor: number,
  processes: ReadonlyMap<number, ProcessState>,
): number[] {
  const nameIn = (variables: string) => /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(variables)?.[1] ?? '';
  return descendants(processes, ancestor).filter(id => functionName.test(nameIn(read(`/proc/${id}/environ`))));
}

/** Returns the ids of all descendants of a process. */
export function descendants(processes: ReadonlyMap<number, Pick<ProcessState, 'parent'>>, ancestor: number): number[] {
  const children = [...processes].filter(([, { parent }]) => parent === ancestor).map(([id]) => id);
  return children.flatMap(id => [id, ...descendants(processes, id)]);
}

/** Parses `/proc/<id>/stat`. The name of the process is in brackets and may itself contain brackets. */
export function parseState(stat: string): ProcessState | undefined {
  const end = stat.lastIndexOf(') ');
  if (end === -1) return undefined;
  const fields = stat.slice(end + 2).split(' ');
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** The state of a Linux process. */
interface ProcessState {
  readonly parent: number;
  /** The user time and the system time. */
  readonly ticks: number;
}

function readProcesses(): Map<number, ProcessState> {
  const processes = new Map<number, ProcessState>();
  for (const name of readdirSync('/proc').filter(entry => /^\d+$/.test(entry))) {
    const state = parseState(read(`/proc/${name}/stat`));
    if (state) processes.set(Number(name), state);
  }
  return processes;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}

/** Linux measures processor time in hundredths of a second. */
const ticksPerMillisecond = 0.1;
