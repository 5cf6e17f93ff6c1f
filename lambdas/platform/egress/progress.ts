import type { Clock } from '../clock.ts';

/** Who hears how a POST goes. */
export interface PostListeners {
  /** Called once the name is resolved and its addresses are judged, however that ended, with the time it took. */
  readonly onResolved?: (resolutionMs: number) => void;
  /** Called once, when the first connection is begun or a kept one is taken. */
  readonly onConnecting?: () => void;
  /** Called once, with the last response header: the POST is over, and only the beginning of the body is still read. */
  readonly onAnswered?: () => void;
}

/** How long a POST took, in milliseconds. */
export interface PostTimes {
  /** From the beginning to the last header, or to the failure. */
  readonly durationMs: number;
  /** How much of it went by until the addresses were known and judged, or until that failed. */
  readonly resolutionMs: number;
  /** How much of it went by since connecting began; not there if it never did. */
  readonly sinceConnectingMs?: number;
}

/** Where a POST says how far it has come. */
export interface Progress {
  resolved(): void;
  connecting(): void;
  answered(): void;
  /** How long it took: up to the last header, or to now without one. */
  times(): PostTimes;
}

/** Tells the listeners of each step, and keeps the times. A POST begins now. */
export function followProgress({ onResolved, onConnecting, onAnswered }: PostListeners, now: Clock): Progress {
  const startedAt = now();
  let resolvedAt: number | undefined;
  let connectingAt: number | undefined;
  let answeredAt: number | undefined;
  return {
    resolved() {
      resolvedAt = now();
      onResolved?.(resolvedAt - startedAt);
    },
    connecting() {
      connectingAt = now();
      onConnecting?.();
    },
    answered() {
      answeredAt = now();
      onAnswered?.();
    },
    times() {
      const endedAt = answeredAt ?? now();
      return {
        durationMs: endedAt - startedAt,
        resolutionMs: (resolvedAt ?? endedAt) - startedAt,
        ...(connectingAt !== undefined && { sinceConnectingMs: endedAt - connectingAt }),
      };
    },
  };
}
