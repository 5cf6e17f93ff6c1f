import type { Clock } from './time.ts';

/** The system's time. A pending timer does not keep the program alive. */
export const realTime: Clock = {
  now: () => Date.now(),
  at: (moment, act) => after(moment - Date.now(), act),
  after,
};

function after(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, Math.max(0, milliseconds)).unref();
  return () => clearTimeout(timer);
}
