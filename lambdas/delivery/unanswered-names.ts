import { otherDomainsUnanswered, slowAfter, unansweredWindow } from './limits.ts';

/** Tells whether it is a receiver's name server that does not answer, or the resolver of this process. */
export interface UnansweredNames {
  /** Begins a resolution. Gives what ends it. */
  begin(host: string): () => void;
  /** Whether names of so many other domains go unanswered, too, that the resolver must be slow. */
  isResolverSlow(host: string): boolean;
}

/** Domains that are remembered at most; the one that was noted first is forgotten first. */
const mostDomains = 1_000;

/** Labels under which names are given to the public: `a.com.br` and `b.com.br` are two domains. */
const longestPublicLabel = 3;

/** A resolution that has taken this long already counts beside one that has taken too long. Milliseconds. */
const almostSlow = slowAfter / 2;

/** Makes an empty record. It lives as long as the process; what is in it counts for ten seconds. */
export function makeUnansweredNames(now: () => number): UnansweredNames {
  const pending = new Map<symbol, { readonly domain: string; readonly since: number }>();
  const unanswered = new Map<string, number>();

  const note = (domain: string): void => {
    unanswered.delete(domain);
    unanswered.set(domain, now());
    const first = unanswered.size > mostDomains ? unanswered.keys().next().value : undefined;
    if (first !== undefined) unanswered.delete(first);
  };

  return {
    begin(host) {
      const key = Symbol(host);
      const begun = { domain: domainOf(host), since: now() };
      pending.set(key, begun);
      return function end() {
        if (pending.delete(key) && now() - begun.since > slowAfter) note(begun.domain);
      };
    },
    isResolverSlow(host) {
      const moment = now();
      const domain = domainOf(host);
      note(domain);
      const others = new Set([
        ...[...unanswered].filter(([, at]) => moment - at <= unansweredWindow).map(([other]) => other),
        ...[...pending.values()].filter(({ since }) => moment - since >= almostSlow).map(other => other.domain),
      ]);
      others.delete(domain);
      return others.size >= otherDomainsUnanswered;
    },
  };
}

/**
 * The part of a name that one owner has, as far as its form tells: two labels, or three where the second is as short as
 * those under which names are given to the public.
 */
function domainOf(host: string): string {
  const labels = host.split('.').filter(label => label !== '');
  const isPublic = (labels.at(-2)?.length ?? 0) <= longestPublicLabel && (labels.at(-1)?.length ?? 0) <= 2;
  return labels.slice(isPublic ? -3 : -2).join('.');
}
