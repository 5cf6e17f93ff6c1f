import { onTestFinished, vi } from 'vitest';

/** Replaces timers and `performance.now()` with virtual ones until the test ends. Sockets and `setImmediate` are unaffected. */
export function useVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

export async function runLoopUntil(isMet: () => boolean): Promise<void> {
  for (let turn = 0; !isMet(); turn++) {
    if (turn === maxTurns) throw new Error(`The condition is still false: ${isMet}`);
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** The maximum number of event loop turns. They take a few seconds. */
const maxTurns = 2_000_000;
