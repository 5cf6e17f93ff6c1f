import type { Clock } from '../clock.ts';
import { remember } from '../remember.ts';

export type OutageDetector = ReturnType<typeof makeOutageDetector>;

/**
 * Makes a detector that has seen nothing yet. An unreachable network is its owner's problem until connections for two other
 * accounts, in two networks, have failed so and none has succeeded, all within the last minute. One account may have any number
 * of names in any number of networks. The state lives in the process.
 */
export function makeOutageDetector({ now }: { readonly now: Clock }) {
  let connectedAt = Number.NEGATIVE_INFINITY;
  /** The latest failure of each account in each network, the oldest first. */
  const failures = new Map<string, { readonly accountId: string; readonly network: string; readonly at: number }>();
  return { connected, unreachable, isOutage };

  /** Records that a connection for any account was opened, or brought an answer. */
  function connected(): void {
    connectedAt = now();
  }

  /** Records that an account's receiver was unreachable at an IPv4 address. */
  function unreachable(accountId: string, address: string): void {
    const network = address.slice(0, address.lastIndexOf('.')); // /24
    const key = `${accountId} ${network}`;
    remember(failures, key, { accountId, network, at: now() }, mostFailures);
  }

  /** Returns whether our own network is down, as far as the connections for accounts other than this one tell. */
  function isOutage(accountId: string): boolean {
    const since = now() - windowMs;
    if (connectedAt > since) return false;
    const others = [...failures.values()].filter(failure => failure.accountId !== accountId && failure.at > since);
    const accounts = new Set(others.map(failure => failure.accountId));
    const networks = new Set(others.map(failure => failure.network));
    return accounts.size >= othersForOutage && networks.size >= othersForOutage;
  }
}

/** The time that a failure or a success counts, in milliseconds. */
const windowMs = 60_000;

/** The other accounts, and their networks, that must have been unreachable. */
const othersForOutage = 2;

/** The most pairs of account and network that are remembered. */
const mostFailures = 1_000;
