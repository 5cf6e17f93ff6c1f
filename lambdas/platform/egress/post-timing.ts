import type { Clock } from '../clock.ts';

export interface PostListeners {
  /** Called where name servers are asked for this POST: one that shares another's answer does not ask. */
  readonly onAsking?: () => void;
  /** Called once, when the first connection is opened or a kept one is reused. */
  readonly onConnecting?: () => void;
  /** Called once, with the last response header. From then on only the beginning of the body is read. */
  readonly onAnswered?: () => void;
}

export interface PostTimes {
  /** From the start to the last header, or to the failure. */
  readonly durationMs: number;
  /** The part since connecting began, without the time in which this process stood still; absent if it never did. */
  readonly sinceConnectingMs?: number;
}

export type PostTiming = ReturnType<typeof startPostTiming>;

/**
 * Starts the timing of a POST that begins now. Each step is reported to the listeners. `elapsed` is a clock that stands still while
 * this process does.
 */
export function startPostTiming({ onConnecting, onAnswered }: PostListeners, now: Clock, elapsed: () => number) {
  const startedAt = now();
  let connectingAt: number | undefined;
  let answeredAt: number | undefined;
  let answeredElapsed: number | undefined;
  return { connecting, answered, times };

  function connecting(): void {
    connectingAt = elapsed();
    onConnecting?.();
  }

  function answered(): void {
    answeredAt = now();
    answeredElapsed = elapsed();
    onAnswered?.();
  }

  /** Returns the times up to the last header, or up to now without one. */
  function times(): PostTimes {
    return {
      durationMs: (answeredAt ?? now()) - startedAt,
      ...(connectingAt !== undefined && {
        sinceConnectingMs: Math.round((answeredElapsed ?? elapsed()) - connectingAt),
      }),
    };
  }
}
