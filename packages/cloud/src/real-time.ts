import type { Clock } from './time.ts';

/** The clock and timers of the system. A pending timer does not prevent the program from exiting. */
export const realTime: Clock = {
  now: () => Date.now(),
  at: (moment, act) => after(moment - Date.now(), act),
  after,
};

function after(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, Math.max(0, milliseconds)).unref();
  return () => clearTimeout(timer);
}
