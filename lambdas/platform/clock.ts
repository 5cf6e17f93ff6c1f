/** The time in milliseconds since the epoch. Callers pass it in so that tests can freeze it. */
export type Clock = () => number;

export function systemClock(): number {
  return Date.now();
}

/** Formats milliseconds since the epoch as RFC 3339 in UTC, with milliseconds. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
