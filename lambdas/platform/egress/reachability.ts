import type { Clock } from '../clock.ts';

/**
 * Whether it is us who have no network. A host that cannot be reached is its owner's matter, until connections to two
 * others have failed in the same way and none has come about, all within the last minute. Kept by each process for itself,
 * for as long as it lives: one moment, and the latest failures of three hosts.
 */
export interface Reachability {
  /** Notes that a connection came about, or was of use, to whichever host. */
  connected(): void;
  /** Notes that there was no way to a host, and says whether that is a fault of our own. */
  unreachable(host: string): boolean;
}

/** Makes an empty record. */
export function makeReachability({ now }: { readonly now: Clock }): Reachability {
  let connectedAt = Number.NEGATIVE_INFINITY;
  let failures: readonly { readonly host: string; readonly at: number }[] = [];
  return {
    connected() {
      connectedAt = now();
    },
    unreachable(host) {
      const at = now();
      const others = failures.filter(failure => failure.host !== host && at - failure.at < memoryMs);
      failures = [...others, { host, at }].slice(-keptHosts);
      return others.length >= proof && at - connectedAt >= memoryMs;
    },
  };
}

/** How long a failure or a success counts, in milliseconds. */
const memoryMs = 60_000;
/** How many other hosts must have been out of reach. */
const proof = 2;
/** The proof, and the host that comes next. */
const keptHosts = proof + 1;
