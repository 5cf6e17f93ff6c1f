import { createHook } from 'node:async_hooks';

/**
 * Creates a function that waits until all effects of an event are over. One iteration of the real event loop is enough
 * for promises and ticks, however many follow each other: Node drains both between two immediates. Work on Node's own
 * threads (WebCrypto, key derivation, files) is counted and awaited.
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
      onDoneAtOnce(job, () => void inFlight.delete(id));
    },
    after: id => void inFlight.delete(id),
    destroy: id => void inFlight.delete(id),
  }).enable();
  return { settled, end: () => void hook.disable() };

  function settled(): Promise<void> {
    return new Promise(resolve => {
      wake = resolve;
      if (turns === 0) queueTurns(turnsAtOnce);
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

/** The real function, even while other code has virtual timers. */
const realSetImmediate = setImmediate;

/** Immediates are queued in advance. Node runs all of them in one iteration of its loop, which is the costly part. */
const turnsAtOnce = 64;

/** Resource types such as `SIGNREQUEST`, `SCRYPTREQUEST` and `FSREQPROMISE`. */
const threadWork = /^(?:FSREQ\w*|\w+REQUEST)$/;

/** Detects work on the calling thread, whose end Node does not report. The result of such work is a list. */
function onDoneAtOnce(job: object, callback: () => void): void {
  const run: unknown = Reflect.get(job, 'run');
  if (typeof run !== 'function') return;
  Reflect.set(job, 'run', (...given: unknown[]) => {
    const result: unknown = Reflect.apply(run, job, given);
    if (Array.isArray(result)) callback();
    return result;
  });
}
