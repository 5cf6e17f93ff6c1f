import dns from 'node:dns';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { divertConnections } from './connections.ts';
import { type HostMap, makeHostMap, type NetworkSettings } from './host-map.ts';

// Loaded before a function's bundle by `node --import`, so that no bundle holds a switch and its environment stays that of
// Lambda: the settings are part of this module's URL.
const settings: NetworkSettings = JSON.parse(new URL(import.meta.url).searchParams.get('settings') ?? '{}');

const hosts = makeHostMap(settings);
patchResolver(dns.promises.Resolver.prototype, hosts);
divertConnections(hosts, settings.terminatorPort);

/** Makes the names of the map resolve. The bundles resolve names by `Resolver` of `node:dns/promises` and no other way. */
function patchResolver(resolver: ResolverMethods, map: HostMap): void {
  const { resolve4, resolve6, cancel } = resolver;
  const unanswered = new WeakMap<object, AbortController>();

  const patch = (original: Query, family: 4 | 6): Query =>
    async function resolveMapped(name, ...rest) {
      const addresses = map.addressesOf(name);
      if (!addresses) return original.call(this, name, ...rest);
      const { resolvesAfter } = map.delaysOf(name);
      if (resolvesAfter > 0) await answerAfter(resolvesAfter, this, name, family);
      return recordsOf(name, addresses, family);
    };

  /** Fails as a real query does when its resolver is cancelled. */
  const answerAfter = async (milliseconds: number, asked: object, name: string, family: 4 | 6): Promise<void> => {
    const controller = unanswered.get(asked) ?? new AbortController();
    unanswered.set(asked, controller);
    await pause(milliseconds, undefined, { signal: controller.signal }).catch(() => {
      throw errorOf('ECANCELLED', name, family);
    });
  };

  resolver.resolve4 = patch(resolve4, 4);
  resolver.resolve6 = patch(resolve6, 6);
  resolver.cancel = function cancelAll(this: object) {
    unanswered.get(this)?.abort();
    unanswered.delete(this);
    cancel.call(this);
  };
}

type ResolverMethods = Record<'resolve4' | 'resolve6', Query> & { cancel: (this: object) => void };

type Query = (this: object, name: string, ...rest: unknown[]) => Promise<unknown>;

/** Returns the A or AAAA records, or the error of a DNS server that has none. */
function recordsOf(name: string, addresses: readonly string[], family: 4 | 6): readonly string[] {
  const found = addresses.filter(address => isIP(address) === family);
  if (found.length > 0) return found;
  throw errorOf(addresses.length === 0 ? 'ENOTFOUND' : 'ENODATA', name, family);
}

function errorOf(code: string, hostname: string, family: 4 | 6): Error {
  const syscall = family === 4 ? 'queryA' : 'queryAaaa';
  return Object.assign(new Error(`${syscall} ${code} ${hostname}`), { code, syscall, hostname });
}
