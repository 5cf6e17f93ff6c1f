import type { Clock } from '../clock.ts';
import { ResolutionError, type Resolve, untilAborted } from './resolver.ts';

/**
 * Makes a resolver whose calls for one name share a lookup where they begin within 100 ms of it: a burst to one host asks once.
 * One that gives up does not end the others'. The lookup itself ends when the last of them has given up, and then nobody joins it.
 */
export function makeSharedResolver(resolve: Resolve, now: Clock): Resolve {
  /** The latest lookup of each name, the oldest first. */
  const lookups = new Map<string, Lookup>();

  return async function resolveShared(name, signal) {
    if (signal.aborted) throw new ResolutionError('temporary', 'ECANCELLED');
    const lookup = recent(name) ?? begin(name);
    lookup.waiting += 1;
    try {
      return await untilAborted(lookup.addresses, signal);
    } catch (error) {
      if (signal.aborted) giveUp(name, lookup);
      throw error;
    }
  };

  function recent(name: string): Lookup | undefined {
    const lookup = lookups.get(name);
    return lookup && isShared(lookup) ? lookup : undefined;
  }

  function begin(name: string): Lookup {
    const end = new AbortController();
    const lookup = { at: now(), addresses: resolve(name, end.signal), end, waiting: 0 };
    lookups.delete(name);
    lookups.set(name, lookup);
    forgetOldest();
    return lookup;
  }

  function giveUp(name: string, lookup: Lookup): void {
    lookup.waiting -= 1;
    if (lookup.waiting > 0) return;
    lookup.end.abort();
    if (lookups.get(name) === lookup) lookups.delete(name);
  }

  /** Whoever waits for a lookup that is forgotten gets its answer all the same. */
  function forgetOldest(): void {
    for (const [name, lookup] of lookups) {
      if (lookups.size <= maxNames && isShared(lookup)) return;
      lookups.delete(name);
    }
  }

  /** A clock that was set back must not make an old answer new. */
  function isShared({ at }: Lookup): boolean {
    const age = now() - at;
    return age >= 0 && age < sharedFor;
  }
}

interface Lookup {
  readonly at: number;
  readonly addresses: Promise<readonly string[]>;
  readonly end: AbortController;
  /** Calls that have not given it up. */
  waiting: number;
}

/** The time from its beginning for which others may join a lookup, in milliseconds. */
const sharedFor = 100;

/** The most names whose lookups may be joined; the oldest is forgotten first. */
const maxNames = 1_000;
