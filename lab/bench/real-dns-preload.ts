/**
 * Replaces the loopback Internet's preload in measurements with real DNS: names are resolved over UDP by the name server on
 * loopback, and only connections to their addresses are diverted to the receiver.
 */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { divertConnections, makeHostMap, type NetworkSettings } from '@emissor/local-cloud/hosts';

/** The settings in the preload's own URL. */
export interface RealDnsSettings extends NetworkSettings {
  readonly nameServerPort: number;
}

type Callback = (error: Error | null, ...found: unknown[]) => void;

const settings: RealDnsSettings = JSON.parse(new URL(import.meta.url).searchParams.get('settings') ?? '{}');
const servers = [`127.0.0.1:${settings.nameServerPort}`];

const { Resolver } = dns.promises;
type Resolve = (this: dns.promises.Resolver, name: string) => Promise<string[]>;
const configured = new WeakSet<dns.promises.Resolver>();

const { resolve4, resolve6 } = Resolver.prototype as Record<'resolve4' | 'resolve6', Resolve>;
Object.assign(Resolver.prototype, { resolve4: askingThere(resolve4), resolve6: askingThere(resolve6) });

// The plain consumer connects by name, as `node:net` does, which looks up all addresses.
const { lookup } = dns;
const resolver = new Resolver();
Object.assign(dns, {
  lookup: (name: string, options: dns.LookupAllOptions, callback: Callback) => {
    if (name === 'localhost') return lookup(name, options, callback);
    resolver.resolve4(name).then(
      found =>
        callback(
          null,
          found.map(address => ({ address, family: 4 })),
        ),
      callback,
    );
    return undefined;
  },
});
syncBuiltinESMExports();

divertConnections(
  makeHostMap({ builtIn: new Map(settings.builtIn), mappings: new Map(settings.mappings) }),
  settings.terminatorPort,
);

/** A resolver's servers can only be set before it asks. */
function askingThere(resolve: Resolve): Resolve {
  return function (name) {
    if (!configured.has(this)) this.setServers(servers);
    configured.add(this);
    return resolve.call(this, name);
  };
}
