import type { Clock } from '../clock.ts';

/** Detects that this process itself has no network. */
export type OutageDetector = ReturnType<typeof makeOutageDetector>;

/**
 * Makes a detector that has seen nothing yet. An unreachable host is its owner's problem until two other hosts have been
 * unreachable and no connection has succeeded, all within the last minute. The state lives in the process: one time, and the
 * latest failures of three hosts.
 */
export function makeOutageDetector({ now }: { readonly now: Clock }) {
  let connectedAt = Number.NEGATIVE_INFINITY;
  let failures: readonly { readonly host: string; readonly at: number }[] = [];
  return { connected, unreachable };

  /** Records that a connection to any host was opened, or brought an answer. */
  function connected(): void {
    connectedAt = now();
  }

  /** Records that a host was unreachable, and returns whether our own network is down. */
  function unreachable(host: string): boolean {
    const at = now();
    const others = failures.filter(failure => failure.host !== host && at - failure.at < windowMs);
    failures = [...others, { host, at }].slice(-keptHosts);
    return others.length >= hostsForOutage && at - connectedAt >= windowMs;
  }
}

/** The time that a failure or a success counts, in milliseconds. */
const windowMs = 60_000;
/** The number of other hosts that must have been unreachable. */
const hostsForOutage = 2;
/** Those hosts, and the one that comes next. */
const keptHosts = hostsForOutage + 1;
