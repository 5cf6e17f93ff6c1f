/** Calls back after this many milliseconds. Returns the function that cancels that. */
export type After = (milliseconds: number, callback: () => void) => () => void;

/**
 * Calls back after this many milliseconds, and once the events of that time are handled: an answer that has come while the
 * process was busy is read before it is missed.
 */
export function afterEvents(milliseconds: number, callback: () => void): () => void {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(callback);
  }, milliseconds);
  return function cancel() {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}

/** Calls back once a clock that may stand still at times shows this many milliseconds more. Returns the function that cancels that. */
export function afterElapsed(
  elapsed: () => number,
  milliseconds: number,
  callback: () => void,
  after: After = afterEvents,
): () => void {
  const until = elapsed() + milliseconds;
  let cancel = wait();
  return () => cancel();

  function wait(): () => void {
    return after(until - elapsed(), () => {
      if (elapsed() < until) cancel = wait();
      else callback();
    });
  }
}

/** Returns the promise's value, or `undefined` when it takes longer. */
export async function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
