/** Returns the time in milliseconds since the epoch. Functions receive a clock as a parameter, so tests can freeze the time. */
export type Clock = () => number;

export function systemClock(): number {
  return Date.now();
}

/** Formats a time in milliseconds since the epoch as RFC 3339 in UTC, with milliseconds. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
