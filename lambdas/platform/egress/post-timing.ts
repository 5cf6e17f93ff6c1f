import type { Clock } from '../clock.ts';

export interface PostListeners {
  /** Called once, when the last response header has arrived. */
  readonly onResponse?: () => void;
}

export interface PostTimes {
  /** The time from the start to the last header or the failure, in milliseconds. */
  readonly durationMs: number;
}

export type PostTiming = ReturnType<typeof startPostTiming>;

/** Starts measuring the duration of a POST. */
export function startPostTiming({ onResponse }: PostListeners, now: Clock) {
  const startedAt = now();
  let respondedAt: number | undefined;
  return { recordResponse, times };

  function recordResponse(): void {
    respondedAt = now();
    onResponse?.();
  }

  /** Returns the duration up to the last header, or up to now if that header has not arrived. */
  function times(): PostTimes {
    return { durationMs: (respondedAt ?? now()) - startedAt };
  }
}
