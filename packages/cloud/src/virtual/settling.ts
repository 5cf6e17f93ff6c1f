import { createHook } from 'node:async_hooks';

/**
 * Creates a function that waits until all effects of an event are complete. One iteration of the real event loop is enough
 * for promises and ticks, because Node processes all of them between two immediates. The function also waits for work on
 * Node's own threads (WebCrypto, key derivation, files).
 */
export function makeSettling() {
  let turns = 0;
  let wake: (() => void) | undefined;
  const inFlight = new Set<number>();
  const hook = createHook({
    trackPromises: false,
    init: (id, type, _, job) => {
      if (!threadWork.test(type)) return;
      inFlight.add(id);
      onSyncCompletion(job, () => void inFlight.delete(id));
    },
    after: id => void inFlight.delete(id),
    destroy: id => void inFlight.delete(id),
  }).enable();
  return { settled, end: () => void hook.disable() };

  function settled(): Promise<void> {
    return new Promise(resolve => {
      wake = resolve;
      if (turns === 0) queueTurns(turnBatchSize);
    });
  }

  function queueTurns(count: number): void {
    for (; turns < count; turns += 1) realSetImmediate(turn);
  }

  function turn(): void {
    turns -= 1;
    if (inFlight.size > 0) {
      if (turns === 0) queueTurns(1);
      return;
    }
    const resolve = wake;
    wake = undefined;
    resolve?.();
  }
}

/** The real function. Code under test may replace the global one. */
const realSetImmediate = setImmediate;

/** The number of immediates to queue in advance. An iteration of Node's loop is expensive, but runs all of them. */
const turnBatchSize = 64;

/** Resource types such as `SIGNREQUEST`, `SCRYPTREQUEST` and `FSREQPROMISE`. */
const threadWork = /^(?:FSREQ\w*|\w+REQUEST)$/;

/** Calls `callback` after a job that ran on the calling thread. Node does not report the end of such a job, but its result is an array. */
function onSyncCompletion(job: object, callback: () => void): void {
  const run: unknown = Reflect.get(job, 'run');
  if (typeof run !== 'function') return;
  Reflect.set(job, 'run', (...parameters: unknown[]) => {
    const result: unknown = Reflect.apply(run, job, parameters);
    if (Array.isArray(result)) callback();
    return result;
  });
}
