import dns from 'node:dns';

// Loaded by `node --import` into what calls the emulator's APIs. Their hosts are `ID.execute-api.localhost`. RFC 6761
// section 6.3 wants every such name to be this machine; the resolver of many systems knows only `localhost` itself.
const { lookup } = dns;

Object.assign(dns, {
  lookup: (name: string, ...others: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.localhost') ? 'localhost' : name, ...others]),
});
