import dns from 'node:dns';

// `node --import` loads this module into programs that call the emulator's APIs at `ID.execute-api.localhost`. RFC 6761 section 6.3 resolves
// such names to this machine, but many resolvers support only `localhost`.
const { lookup } = dns;

Object.assign(dns, {
  lookup: (name: string, ...others: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.localhost') ? 'localhost' : name, ...others]),
});
