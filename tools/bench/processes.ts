import { readdirSync, readFileSync } from 'node:fs';

/** Processor time in milliseconds that the processes of a function have used, among this process's descendants; Linux only. */
export function processorTime(functionName: RegExp): number {
  const states = new Map<number, ProcessState>();
  for (const name of readdirSync('/proc').filter(entry => /^\d+$/.test(entry))) {
    const state = parseState(read(`/proc/${name}/stat`));
    if (state) states.set(Number(name), state);
  }
  const ticks = descendants(states, process.pid)
    .filter(id => isOf(functionName, id))
    .reduce((sum, id) => sum + (states.get(id)?.ticks ?? 0), 0);
  return ticks / ticksPerMillisecond;
}

/** The processes below one: another run's on the same machine are not among them. */
export function descendants(states: ReadonlyMap<number, Pick<ProcessState, 'parent'>>, root: number): number[] {
  const children = [...states].filter(([, { parent }]) => parent === root).map(([id]) => id);
  return children.flatMap(id => [id, ...descendants(states, id)]);
}

/** Reads `/proc/<id>/stat`. A process's name stands in brackets, and may hold anything, brackets too. */
export function parseState(stat: string): ProcessState | undefined {
  const end = stat.lastIndexOf(') ');
  if (end === -1) return undefined;
  const fields = stat.slice(end + 2).split(' ');
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** What Linux says of a process. */
interface ProcessState {
  readonly parent: number;
  /** User and system time. */
  readonly ticks: number;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

function isOf(functionName: RegExp, id: number): boolean {
  const name = /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(read(`/proc/${id}/environ`))?.[1];
  return name !== undefined && functionName.test(name);
}

/** Linux counts processor time in hundredths of a second. */
const ticksPerMillisecond = 0.1;
