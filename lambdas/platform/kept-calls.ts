import { type Time, withTimeout } from './timer.ts';

/**
 * Creates an empty cache of calls. Concurrent requests share a call in flight. Failed calls are not cached.
 *
 * A call may start early, while the function loads, and Lambda may then freeze the process for minutes. A request therefore waits only for a
 * recent early call, and repeats the call if it fails or takes too long.
 */
export function makeKeptCalls<Key, Result>({ now, after }: Pick<Time, 'now' | 'after'>) {
  const kept = new Map<Key, KeptCall<Result>>();
  return { get, prefetch, forget };

  /** Returns the cached result if its call started less than `maxAge` milliseconds ago. Otherwise makes the call. */
  function get(key: Key, maxAge: number, call: () => Promise<Result>): Promise<Result> {
    const known = kept.get(key);
    if (!known || now() - known.startedAt >= maxAge) return start(key, call, false);
    return known.isEarly ? awaitEarly(key, known, () => get(key, maxAge, call)) : known.result;
  }

  /** Starts a call before its first request, unless one is cached. */
  function prefetch(key: Key, call: () => Promise<Result>): Promise<Result> {
    return kept.get(key)?.result ?? start(key, call, true);
  }

  function forget(key: Key): void {
    kept.delete(key);
  }

  function start(key: Key, call: () => Promise<Result>, isEarly: boolean): Promise<Result> {
    const started = { startedAt: now(), result: call(), isEarly };
    kept.set(key, started);
    started.result.then(
      () => {
        started.isEarly = false;
      },
      () => forgetCall(key, started),
    );
    return started.result;
  }

  async function awaitEarly(key: Key, early: KeptCall<Result>, repeat: () => Promise<Result>): Promise<Result> {
    const patience = Math.min(early.startedAt + earlyPatience - now(), earlyPatience);
    const succeeded = patience > 0 ? await withTimeout(after, successOf(early.result), patience) : undefined;
    if (succeeded) return succeeded.value;
    forgetCall(key, early);
    return repeat();
  }

  /** Removes a call, unless another call has replaced it. */
  function forgetCall(key: Key, call: KeptCall<Result>): void {
    if (kept.get(key) === call) kept.delete(key);
  }
}

interface KeptCall<Result> {
  readonly startedAt: number;
  readonly result: Promise<Result>;
  /** True if the call started while the function loaded, and has not settled yet. */
  isEarly: boolean;
}

/** The age in milliseconds at which a request repeats an early call. It equals the timeout of one try. */
const earlyPatience = 1_000;

async function successOf<Result>(result: Promise<Result>): Promise<{ readonly value: Result } | undefined> {
  try {
    return { value: await result };
  } catch {
    return undefined;
  }
}
