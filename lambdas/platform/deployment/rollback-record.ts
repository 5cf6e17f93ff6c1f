import { isoTime } from '../clock.ts';

/**
 * The record of a function's roll-back. It is the description of its alias `live`: what the alias leads to and why are changed by
 * one call, and a deployment leaves the record as it is. It holds as long as the alias leads to `to`.
 */
export interface RollbackRecord {
  /** The versions that were taken back, the newest first: a later roll-back passes over them. */
  readonly from: readonly number[];
  readonly to: number;
  /** RFC 3339. */
  readonly at: string;
}

/** Returns a record as the alias has it. */
export function writeRecord({ from, to }: Omit<RollbackRecord, 'at'>, now: number): string {
  return `rolled back from ${from.join(', ')} to ${to} at ${isoTime(now)}`;
}

/** Returns the record in the description of an alias; `undefined` where there is none. */
export function readRecord(description = ''): RollbackRecord | undefined {
  const [, from = '', to = '', at = ''] = /^rolled back from ([\d, ]+) to (\d+) at (\S+)$/.exec(description) ?? [];
  return to === '' ? undefined : { from: from.split(', ').map(Number), to: Number(to), at };
}

/**
 * Returns what became of a roll-back: it stands, or a later deployment failed and led the alias to a version again that was taken back.
 * `undefined` where there was none, and once the alias was led on.
 */
export function rollbackState(version: number, record: RollbackRecord | undefined) {
  if (record?.to === version) return 'rolled back';
  return record?.from.includes(version) ? 'returned' : undefined;
}
