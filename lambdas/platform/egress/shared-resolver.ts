import type { Clock } from '../clock.ts';
import { ResolutionError, type Resolve, untilAborted } from './resolver.ts';

/**
 * Creates a resolver that makes only one lookup for all calls for a name within 100 ms, such as a burst to one host. An aborted call does
 * not affect the others. When the last call is aborted, the lookup is aborted and no longer shared.
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
    removeOld();
    return lookup;
  }

  function giveUp(name: string, lookup: Lookup): void {
    lookup.waiting -= 1;
    if (lookup.waiting > 0) return;
    lookup.end.abort();
    if (lookups.get(name) === lookup) lookups.delete(name);
  }

  /** Removes old lookups. Calls that wait for one still receive its result. */
  function removeOld(): void {
    for (const [name, lookup] of lookups) {
      if (lookups.size <= maxNames && isShared(lookup)) return;
      lookups.delete(name);
    }
  }

  /** Returns whether a lookup is recent. A lookup from the future, after the clock was set back, is not recent. */
  function isShared({ at }: Lookup): boolean {
    const age = now() - at;
    return age >= 0 && age < sharingPeriod;
  }
}

interface Lookup {
  readonly at: number;
  readonly addresses: Promise<readonly string[]>;
  readonly end: AbortController;
  /** The number of calls that were not aborted. */
  waiting: number;
}

/** The time from the start of a lookup until new calls no longer share it, in milliseconds. */
const sharingPeriod = 100;

/** The maximum number of names with a shared lookup. The oldest name is removed first. */
const maxNames = 1_000;
