import dns from 'node:dns';

// Loaded by `node --import` into programs that call the emulator's APIs at `ID.execute-api.localhost`. By RFC 6761 section 6.3 such names
// are this machine, but many resolvers know only `localhost`.
const { lookup } = dns;

Object.assign(dns, {
  lookup: (name: string, ...others: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.localhost') ? 'localhost' : name, ...others]),
});
