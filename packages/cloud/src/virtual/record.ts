import { createHash } from 'node:crypto';
import { firstIndexWhere } from '../sorted.ts';

/** A recorded event. */
export interface RecordedEvent {
  /** The virtual time of the event. */
  readonly at: number;
  readonly kind: 'call' | 'invocation' | 'line' | 'message' | 'process';
  readonly text: string;
  /** The details as JSON, such as the request and response of a call. May be empty. */
  readonly detail: string;
}

/** Records an event. */
export type Note = (kind: RecordedEvent['kind'], text: string, detail?: () => unknown) => void;

/** The options of a record. */
export interface RecordOptions {
  /** True if the record contains a trace. The digest and the log are always recorded. @default true */
  readonly keepsTrace?: boolean;
  /** True if the trace and the digest contain all details. If false, only messages have details. @default true */
  readonly keepsDetails?: boolean;
}

/** A filter of log lines. A line must match all its conditions. */
export interface LogFilter {
  /** The text that the line must contain, or the regular expression that it must match. */
  readonly text?: string | RegExp;
  readonly from?: number;
  /** The exclusive end of the period. */
  readonly until?: number;
}

/** Creates the record of all events and of the functions' logs. */
export function makeRecord(now: () => number, { keepsTrace = true, keepsDetails = true }: RecordOptions) {
  const hash = createHash('sha256');
  const events: RecordedEvent[] = [];
  const lines: LogLine[] = [];
  return { note, digest, trace, writeLog, logs };

  function note(kind: RecordedEvent['kind'], text: string, detail?: () => unknown): void {
    const hasDetail = keepsDetails || kind === 'message';
    const event = { at: now(), kind, text, detail: detail && hasDetail ? JSON.stringify(detail()) : '' };
    if (keepsTrace) events.push(event);
    hash.update(`${event.at} ${kind} ${text} ${event.detail}\n`);
  }

  /** Returns a hash of all events so far. */
  function digest(): string {
    return hash.copy().digest('hex').slice(0, 16);
  }

  /** Returns the events in order. */
  function trace(isMatch: (event: RecordedEvent) => boolean = () => true): RecordedEvent[] {
    return events.filter(isMatch);
  }

  /** Writes a process's output, line by line. */
  function writeLog({ id, functionName }: { readonly id: string; readonly functionName: string }, data: string): void {
    for (const text of data.split('\n')) {
      if (text === '') continue;
      note('line', `${id} ${text}`);
      lines.push({ at: now(), functionName, processId: id, text });
    }
  }

  /** Returns the matching lines, in the order in which they were written. */
  function logs({ text, from = 0, until = Number.POSITIVE_INFINITY }: LogFilter = {}): LogLine[] {
    const [first, end] = [from, until].map(moment => firstIndexWhere(lines, ({ at }) => at >= moment));
    return lines
      .slice(first, end)
      .filter(
        line => text === undefined || (typeof text === 'string' ? line.text.includes(text) : text.test(line.text)),
      );
  }
}

/** A line of a function's log. */
interface LogLine {
  readonly at: number;
  readonly functionName: string;
  readonly processId: string;
  readonly text: string;
}
