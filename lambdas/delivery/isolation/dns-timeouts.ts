import { remember } from '../../platform/remember.ts';
import { otherDomainsUnanswered, slowAfter, unansweredWindow } from '../limits.ts';

export type DnsTimeouts = ReturnType<typeof makeDnsTimeouts>;

/**
 * Makes an empty memory of timeouts, which tells whether a receiver's name server does not answer, or the resolver of this process. It
 * lives as long as the process; each timeout counts for ten seconds.
 */
export function makeDnsTimeouts(now: () => number) {
  const pending = new Map<symbol, Resolution & { readonly since: number }>();
  const unanswered = new Map<string, Resolution & { readonly at: number }>();
  return { begin, recordTimeout };

  /** Begins a resolution for an account. Returns what ends it. */
  function begin(host: string, accountId: string): () => void {
    const key = Symbol(host);
    const begun = { domain: domainOf(host), accountId, since: now() };
    pending.set(key, begun);
    return function end() {
      if (pending.delete(key) && now() - begun.since > slowAfter) note(begun);
    };
  }

  /**
   * Records that a name was not resolved in time. Returns whether the resolver must be slow: names of enough other domains go
   * unanswered, too. Those of the same account prove nothing: it may own several domains whose name servers fall silent
   * together.
   */
  function recordTimeout(host: string, accountId: string): boolean {
    const moment = now();
    const own = { domain: domainOf(host), accountId };
    note(own);
    const slow = [
      ...[...unanswered.values()].filter(({ at }) => moment - at <= unansweredWindow),
      ...[...pending.values()].filter(({ since }) => moment - since >= almostSlow),
    ];
    const others = slow.filter(other => other.accountId !== accountId && other.domain !== own.domain);
    return new Set(others.map(({ domain }) => domain)).size >= otherDomainsUnanswered;
  }

  function note({ domain, accountId }: Resolution): void {
    remember(unanswered, `${accountId} ${domain}`, { domain, accountId, at: now() }, maxEntries);
  }
}

interface Resolution {
  readonly domain: string;
  readonly accountId: string;
}

/** Pairs of account and domain that are remembered at most; the oldest is forgotten first. */
const maxEntries = 1_000;

/**
 * The registrable domain of a name, as far as its form tells: the last two labels, or three where the second from the end is
 * short and the last has at most two letters, as in `a.com.br`.
 */
function domainOf(host: string): string {
  const labels = host.split('.').filter(label => label !== '');
  const hasTwoPartSuffix = (labels.at(-2)?.length ?? 0) <= longestSecondLabel && (labels.at(-1)?.length ?? 0) <= 2;
  return labels.slice(hasTwoPartSuffix ? -3 : -2).join('.');
}

/** A resolution that has taken this long already counts beside one that has taken too long. Milliseconds. */
const almostSlow = slowAfter / 2;

/** The second label of a two-part suffix is no longer than this: `a.com.br` and `b.com.br` are two domains. */
const longestSecondLabel = 3;
