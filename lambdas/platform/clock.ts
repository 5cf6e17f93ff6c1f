/** Tells the time in milliseconds since the epoch. Passed in wherever time decides something, so that tests can freeze it. */
export type Clock = () => number;

/** The machine's own clock. */
export function systemClock(): number {
  return Date.now();
}
