/**
 * The values of an iterable, until the signal is aborted: a source that makes wait is not waited for then.
 *
 * @throws what the iterable throws, or the signal's reason.
 */
export async function* abortable<Value>(
  source: Iterable<Value> | AsyncIterable<Value>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Value, void, undefined> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let ended = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = iterator.next();
      const { done, value } = await (signal && 'then' in next ? orAborted(next, signal) : next);
      if (done) {
        ended = true;
        return;
      }
      yield value;
    }
  } catch (error) {
    ended ||= !signal?.aborted; // it threw: there is nothing to close
    throw error;
  } finally {
    // Not awaited: a generator closes only after what it is waiting for.
    if (!ended)
      void Promise.resolve()
        .then(() => iterator.return?.())
        .catch(() => {});
  }
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
