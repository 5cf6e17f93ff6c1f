/**
 * `EMISSOR_TESTS=full` runs the suites `*.long.*`, too, and all cases of which `npm test` tries a sample: steps at which a process dies,
 * runs of a property. The gate and the nightly run ask for it (`.ci/run`).
 */
export const isFull = process.env.EMISSOR_TESTS === 'full';

/** Returns the one of two numbers that the run asks for. */
export function amount({ sample, full }: { readonly sample: number; readonly full: number }): number {
  return isFull ? full : sample;
}

/** Returns all cases, or of a sample the first and each `step`th after it. */
export function casesOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return isFull ? cases : cases.filter((_, at) => at % step === 0);
}
