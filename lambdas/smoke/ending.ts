/** The end of a test before it was done. The message says why. */
export class TestEnded extends Error {
  override readonly name = 'TestEnded';
  readonly lookAt: string | undefined;

  /** @param lookAt - what to look at; by default what fits the step at which it ended. */
  constructor(message: string, lookAt?: string) {
    super(message);
    this.lookAt = lookAt;
  }
}

/** A test is over after so long, tidying up included. In milliseconds. */
export const longestTestMs = 180_000;

/** The clocks of an operator's machine and of AWS may differ by so much. In milliseconds. */
const clockDifferenceMs = 300_000;

/** What a test made may be in use for so long by any clock: its key is good until then, and what is older was left behind. */
export const useLimitMs = longestTestMs + clockDifferenceMs;

/** The most that the steps may take before the test is tidied up. In milliseconds. */
export const longestStepsMs = 120_000;

/** Tidying up is given up after so long. In milliseconds. */
export const tidyUpLimitMs = 30_000;

/** Why a test was ended, in a few words. */
export function endOf(signal: AbortSignal): string {
  return signal.reason instanceof TestEnded ? signal.reason.message : 'the test was ended';
}

/** Waits for work that cannot be aborted. When the signal is, the work goes on, and the undoing waits for it. */
export async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
    work.catch(() => undefined); // nobody waits for it any more
  }
}
