import type { Clock } from '../clock.ts';
import { ResolutionError, type Resolve, untilAborted } from './resolver.ts';

/**
 * Creates a resolver that shares a lookup between calls for one name within 100 ms, so that a burst to one host causes one query.
 * A call that gives up does not affect the others. When the last call gives up, the lookup ends and accepts no more calls.
 */
export function makeSharedResolver(resolve: Resolve, now: Clock): Resolve {
  /** The latest lookup of each name, oldest first. */
  const lookups = new Map<string, Lookup>();

  return async function resolveShared(name, signal) {
    if (signal.aborted) throw new ResolutionError('temporary', 'ECANCELLED');
    const lookup = recent(name) ?? start(name);
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

  function start(name: string): Lookup {
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

  /** Removes old lookups. Calls that wait for one still receive its result. */
  function forgetOldest(): void {
    for (const [name, lookup] of lookups) {
      if (lookups.size <= maxNames && isShared(lookup)) return;
      lookups.delete(name);
    }
  }

  /** Returns whether a lookup is recent, and not from the future after the clock was set back. */
  function isShared({ at }: Lookup): boolean {
    const age = now() - at;
    return age >= 0 && age < sharedFor;
  }
}

interface Lookup {
  readonly at: number;
  readonly addresses: Promise<readonly string[]>;
  readonly end: AbortController;
  /** Number of calls that have not given up. */
  waiting: number;
}

/** Time in which calls may join a lookup, in milliseconds from its start. */
const sharedFor = 100;

/** Maximum number of names with a shared lookup. The oldest name is removed first. */
const maxNames = 1_000;
