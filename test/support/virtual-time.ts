import { onTestFinished, vi } from 'vitest';

/** Stops timers and `performance.now()` until the test ends. Sockets and `setImmediate` continue. */
export function useVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Runs the event loop until a condition holds. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    if (turn === maxTurns) throw new Error(`not so: ${isSo}`);
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** A few seconds of turns. */
const maxTurns = 2_000_000;
