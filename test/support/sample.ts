/** True if the run includes the suites `*.long.*` and all cases of sampled tests, as the gate and the nightly run do. */
export const isFull = process.env.EMISSOR_TESTS === 'full';

/** Returns the number for a full run, or for a sample. */
export function amount({ sample, full }: { readonly sample: number; readonly full: number }): number {
  return isFull ? full : sample;
}

/** Returns all cases for a full run, or every `step`th case for a sample. */
export function casesOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return isFull ? cases : cases.filter((_, at) => at % step === 0);
}
