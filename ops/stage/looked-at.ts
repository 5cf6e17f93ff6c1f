/** Returns the sentence about dead letters that others have in flight: nobody may say that there are none. */
export function lookedAt(inFlight: number): string {
  return `another command is looking at dead letters (about ${inFlight}), which show again when it ends, or within a minute`;
}
