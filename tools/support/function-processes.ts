import { globSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Returns the processor time of a function's processes that descend from this process, in milliseconds. It requires Linux (`/proc`).
 *
 * @param threadName - counts only threads with this name
 */
export function processorTime(functionName: RegExp, threadName?: string): number {
  const threads = functionProcesses(functionName).flatMap(id => globSync(`/proc/${id}/task/*`));
  const counted = threads.filter(thread => threadName === undefined || read(`${thread}/comm`) === `${threadName}\n`);
  return sumOf(counted.map(thread => parseState(read(`${thread}/stat`))?.ticks ?? 0)) / ticksPerMillisecond;
}

/** Returns the resident memory of the processes of `processorTime`, in MiB. */
export function residentMemory(functionName: RegExp): number {
  const kibibytes = (id: number) => Number(/^VmRSS:\s*(\d+) kB$/m.exec(read(`/proc/${id}/status`))?.[1] ?? 0);
  return sumOf(functionProcesses(functionName).map(kibibytes)) / 1_024;
}

/** Returns the descendants of this process that run a function. */
function functionProcesses(functionName: RegExp): number[] {
  const nameIn = (variables: string) => /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(variables)?.[1] ?? '';
  return descendants(readProcesses(), process.pid).filter(id => functionName.test(nameIn(read(`/proc/${id}/environ`))));
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

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
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
