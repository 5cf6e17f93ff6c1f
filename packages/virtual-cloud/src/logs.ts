import type { Note } from './record.ts';

/** A line of a function's log. */
interface LogLine {
  readonly at: number;
  readonly functionName: string;
  readonly processId: string;
  readonly text: string;
}

/** Which lines are wanted: those that all of this is true of. */
export interface LogFilter {
  readonly functionName?: string;
  /** The line contains it, or matches. */
  readonly text?: string | RegExp;
  readonly from?: number;
  /** Not included. */
  readonly until?: number;
}

/** Makes the logs of all functions. */
export function makeLogs(now: () => number, note: Note) {
  const lines: LogLine[] = [];
  return { write, find };

  /** Writes what a process says, line by line. */
  function write(process: { readonly id: string; readonly functionName: string }, said: string): void {
    for (const text of said.split('\n')) {
      if (text === '') continue;
      note('line', `${process.id} ${text}`);
      lines.push({ at: now(), functionName: process.functionName, processId: process.id, text });
    }
  }

  /** Returns the lines that are wanted, in the order they were written. */
  function find({
    functionName,
    text,
    from = Number.NEGATIVE_INFINITY,
    until = Number.POSITIVE_INFINITY,
  }: LogFilter = {}) {
    return lines.filter(
      line =>
        (functionName === undefined || line.functionName === functionName) &&
        line.at >= from &&
        line.at < until &&
        (text === undefined || (typeof text === 'string' ? line.text.includes(text) : text.test(line.text))),
    );
  }
}
