import type { Clock } from '../clock.ts';

export interface PostListeners {
  /** Called once, when the last response header has arrived. */
  readonly onAnswered?: () => void;
}

export interface PostTimes {
  /** The time from the start to the last header or the failure, in milliseconds. */
  readonly durationMs: number;
}

export type PostTiming = ReturnType<typeof startPostTiming>;

/** Starts to measure the duration of a POST. */
export function startPostTiming({ onAnswered }: PostListeners, now: Clock) {
  const startedAt = now();
  let answeredAt: number | undefined;
  return { answered, times };

  function answered(): void {
    answeredAt = now();
    onAnswered?.();
  }

  /** Returns the duration up to the last header, or up to now if that header has not arrived. */
  function times(): PostTimes {
    return { durationMs: (answeredAt ?? now()) - startedAt };
  }
}
