/** `EMISSOR_TESTS=full`, as in the gate and the nightly run, adds the suites `*.long.*` and all cases that `npm test` samples. */
export const isFull = process.env.EMISSOR_TESTS === 'full';

/** Returns the number for a full run or for a sample. */
export function amount({ sample, full }: { readonly sample: number; readonly full: number }): number {
  return isFull ? full : sample;
}

/** Returns all cases, or for a sample every `step`th one from the first. */
export function casesOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return isFull ? cases : cases.filter((_, at) => at % step === 0);
}
