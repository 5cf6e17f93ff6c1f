import { onTestFinished, vi } from 'vitest';

/**
 * Makes timers and `performance.now()` stand still until the test moves them, to its end. Sockets and `setImmediate` go on: Node's
 * own timers are others.
 */
export function useVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets what is under way in this process and on its sockets go on until something is so. */
export async function turnsUntil(isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    if (turn === mostTurns) throw new Error(`not so: ${isSo}`);
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** Some seconds. */
const mostTurns = 2_000_000;
