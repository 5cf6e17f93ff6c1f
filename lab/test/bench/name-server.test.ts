import { Resolver } from 'node:dns/promises';
import { expect, it } from 'vitest';
import { startNameServer } from '../../bench/name-server.ts';

it('the name server answers a resolver of Node: an address, no IPv6 address, no such name', async () => {
  const server = await startNameServer(name => (name === 'a.example.com' ? '93.184.0.1' : undefined));
  try {
    const resolver = new Resolver({ timeout: 2_000, tries: 3 });
    resolver.setServers([`127.0.0.1:${server.port}`]);
    await expect(resolver.resolve4('a.example.com')).resolves.toEqual(['93.184.0.1']);
    await expect(resolver.resolve6('a.example.com')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolve4('b.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  } finally {
    server.stop();
  }
});
