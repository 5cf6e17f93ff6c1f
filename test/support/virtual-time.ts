import { onTestFinished, vi } from 'vitest';

/**
 * Stops timers and `performance.now()` until the test ends; only the test moves them. Sockets and `setImmediate` continue, because they
 * use Node's own timers.
 */
export function useVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets this process and its sockets run until a condition holds. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    if (turn === maxTurns) throw new Error(`not so: ${isSo}`);
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** Some seconds. */
const maxTurns = 2_000_000;
