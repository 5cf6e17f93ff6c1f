import type { Clock } from '../clock.ts';

export interface PostListeners {
  /** Called once, with the last response header. After it, only the start of the body is read. */
  readonly onAnswered?: () => void;
}

export interface PostTimes {
  /** Milliseconds from the start to the last header or the failure. */
  readonly durationMs: number;
}

export type PostTiming = ReturnType<typeof startPostTiming>;

/** Starts the timing of a POST that starts now. */
export function startPostTiming({ onAnswered }: PostListeners, now: Clock) {
  const startedAt = now();
  let answeredAt: number | undefined;
  return { answered, times };

  function answered(): void {
    answeredAt = now();
    onAnswered?.();
  }

  /** Returns the times up to the last header, or up to now if it has not arrived. */
  function times(): PostTimes {
    return { durationMs: (answeredAt ?? now()) - startedAt };
  }
}
