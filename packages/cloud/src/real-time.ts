import type { Clock } from './time.ts';

/** The time of this machine. A timer alone does not keep the program alive. */
export const realTime: Clock = {
  now: () => Date.now(),
  at: (moment, act) => after(moment - Date.now(), act),
  after,
};

function after(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, Math.max(0, milliseconds)).unref();
  return () => clearTimeout(timer);
}
