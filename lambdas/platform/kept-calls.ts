import { type Time, withTimeout } from './timer.ts';

/**
 * Makes an empty memory of calls. Whoever asks while a call is under way shares it. One that fails is not kept.
 *
 * A call may begin early, while the function loads. Lambda may freeze a process before its first request, for minutes. So a
 * request waits for an early call only while that is young. Where the call fails or is late, the request makes it anew, in its own time.
 */
export function makeKeptCalls<Key, Result>({ now, after }: Pick<Time, 'now' | 'after'>) {
  const kept = new Map<Key, KeptCall<Result>>();
  return { get, prefetch, forget };

  /** Returns the result that is kept, or makes the call where there is none younger than `maxAge` (milliseconds). */
  function get(key: Key, maxAge: number, call: () => Promise<Result>): Promise<Result> {
    const known = kept.get(key);
    if (!known || now() - known.begunAt >= maxAge) return begin(key, call, false);
    return known.isEarly ? awaitEarly(key, known, () => get(key, maxAge, call)) : known.result;
  }

  /** Begins a call that nobody has asked for yet, unless one is kept. */
  function prefetch(key: Key, call: () => Promise<Result>): Promise<Result> {
    return kept.get(key)?.result ?? begin(key, call, true);
  }

  function forget(key: Key): void {
    kept.delete(key);
  }

  function begin(key: Key, call: () => Promise<Result>, isEarly: boolean): Promise<Result> {
    const begun = { begunAt: now(), result: call(), isEarly };
    kept.set(key, begun);
    begun.result.then(
      () => {
        begun.isEarly = false;
      },
      () => forgetCall(key, begun),
    );
    return begun.result;
  }

  async function awaitEarly(key: Key, early: KeptCall<Result>, anew: () => Promise<Result>): Promise<Result> {
    const patience = Math.min(early.begunAt + earlyPatience - now(), earlyPatience);
    const succeeded = patience > 0 ? await withTimeout(after, successOf(early.result), patience) : undefined;
    if (succeeded) return succeeded.value;
    forgetCall(key, early);
    return anew();
  }

  /** Forgets this call, and none that replaced it. */
  function forgetCall(key: Key, call: KeptCall<Result>): void {
    if (kept.get(key) === call) kept.delete(key);
  }
}

interface KeptCall<Result> {
  readonly begunAt: number;
  readonly result: Promise<Result>;
  /** Begun while the function loaded, and not answered yet. */
  isEarly: boolean;
}

/** The age that an early call may reach before a request makes it anew, in milliseconds: as long as one try may take. */
const earlyPatience = 1_000;

async function successOf<Result>(result: Promise<Result>): Promise<{ readonly value: Result } | undefined> {
  try {
    return { value: await result };
  } catch {
    return undefined;
  }
}
