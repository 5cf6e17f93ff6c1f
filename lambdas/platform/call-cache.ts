import { type Time, withTimeout } from './timer.ts';

/**
 * Creates an empty cache of calls. Concurrent requests share a call in flight. Failed calls are not cached.
 *
 * A call may start early, while the function loads, and Lambda may then freeze the process for minutes. A request therefore waits only for a
 * recent early call, and repeats the call if it fails or takes too long.
 */
export function makeCallCache<Key, Result>({ now, after }: Pick<Time, 'now' | 'after'>) {
  const calls = new Map<Key, CachedCall<Result>>();
  return { get, prefetch, remove };

  /** Returns the cached result if its call started less than `maxAge` milliseconds ago. Otherwise makes the call. */
  function get(key: Key, maxAge: number, call: () => Promise<Result>): Promise<Result> {
    const cached = calls.get(key);
    if (!cached || now() - cached.startedAt >= maxAge) return start(key, call, false);
    return cached.isEarly ? awaitEarly(key, cached, () => get(key, maxAge, call)) : cached.result;
  }

  /** Starts a call before its first request, unless one is cached. */
  function prefetch(key: Key, call: () => Promise<Result>): Promise<Result> {
    return calls.get(key)?.result ?? start(key, call, true);
  }

  function remove(key: Key): void {
    calls.delete(key);
  }

  function start(key: Key, call: () => Promise<Result>, isEarly: boolean): Promise<Result> {
    const started = { startedAt: now(), result: call(), isEarly };
    calls.set(key, started);
    started.result.then(
      () => {
        started.isEarly = false;
      },
      () => removeCall(key, started),
    );
    return started.result;
  }

  async function awaitEarly(key: Key, early: CachedCall<Result>, repeat: () => Promise<Result>): Promise<Result> {
    const maxWait = Math.min(early.startedAt + maxEarlyAge - now(), maxEarlyAge);
    const succeeded = maxWait > 0 ? await withTimeout(after, successOf(early.result), maxWait) : undefined;
    if (succeeded) return succeeded.value;
    removeCall(key, early);
    return repeat();
  }

  /** Removes a call, unless another call has replaced it. */
  function removeCall(key: Key, call: CachedCall<Result>): void {
    if (calls.get(key) === call) calls.delete(key);
  }
}

interface CachedCall<Result> {
  readonly startedAt: number;
  readonly result: Promise<Result>;
  /** True if the call started while the function loaded, and has not settled yet. */
  isEarly: boolean;
}

/** The age in milliseconds at which a request repeats an early call. It equals the timeout of one try. */
const maxEarlyAge = 1_000;

async function successOf<Result>(result: Promise<Result>): Promise<{ readonly value: Result } | undefined> {
  try {
    return { value: await result };
  } catch {
    return undefined;
  }
}
