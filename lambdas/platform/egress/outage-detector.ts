import type { Clock } from '../clock.ts';

/**
 * Detects that this process itself has no network. An unreachable host is its owner's problem until two other hosts have been
 * unreachable and no connection has succeeded, all within the last minute. The state lives in the process: one time, and the
 * latest failures of three hosts.
 */
export interface OutageDetector {
  /** Records that a connection to any host was opened, or brought an answer. */
  connected(): void;
  /** Records that a host was unreachable, and gives whether our own network is down. */
  unreachable(host: string): boolean;
}

/** Makes a detector that has seen nothing yet. */
export function makeOutageDetector({ now }: { readonly now: Clock }): OutageDetector {
  let connectedAt = Number.NEGATIVE_INFINITY;
  let failures: readonly { readonly host: string; readonly at: number }[] = [];
  return {
    connected() {
      connectedAt = now();
    },
    unreachable(host) {
      const at = now();
      const others = failures.filter(failure => failure.host !== host && at - failure.at < windowMs);
      failures = [...others, { host, at }].slice(-keptHosts);
      return others.length >= hostsForOutage && at - connectedAt >= windowMs;
    },
  };
}

/** How long a failure or a success counts, in milliseconds. */
const windowMs = 60_000;
/** How many other hosts must have been unreachable. */
const hostsForOutage = 2;
/** Those hosts, and the one that comes next. */
const keptHosts = hostsForOutage + 1;
