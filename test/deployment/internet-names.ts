import dns from 'node:dns';

// Loaded by `node --import` into a program that calls names of the functions' Internet by `fetch`, which asks `dns.lookup`. In that
// Internet names resolve by `Resolver` only.
const { lookup } = dns;

Object.assign(dns, {
  lookup: (name: string, options: dns.LookupAllOptions, answer: (error: null, found: dns.LookupAddress[]) => void) => {
    const ask = () => Reflect.apply(lookup, dns, [name, options, answer]);
    if (!name.includes('.') || name.endsWith('.localhost')) return ask();
    const found = (addresses: readonly string[]) =>
      answer(
        null,
        addresses.map(address => ({ address, family: 4 })),
      );
    new dns.promises.Resolver({ timeout: 500, tries: 1 }).resolve4(name).then(found, ask);
  },
});
