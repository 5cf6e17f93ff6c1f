import type { TokenRequest } from './journal.ts';

/** Two clocks of processes differ by no more than this, in milliseconds. */
export const clockError = 250;

/** Returns the earliest and the latest time that a process may have read while a request was under way. */
export function timesOf({ sentAt, endedAt = sentAt }: TokenRequest): readonly [number, number] {
  return [sentAt - clockError, endedAt + clockError];
}
