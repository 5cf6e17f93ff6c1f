import { afterAll, expect, it } from 'vitest';
import { startAuthService } from '../../../support/auth-service.ts';

const service = await startAuthService();
afterAll(() => service.stop());

it('the log line of each granted request says which of two secrets its client used', async () => {
  const { id, secret } = await service.makeClient();
  service.clock.advance(1_000);
  const newSecret = (await service.clients.rotateClientSecret(id))?.clientSecret ?? '';
  const user = await service.makeUser();
  const [newer, older] = (await service.clients.findClient(id))?.secrets ?? [];
  for (const [presented, stored] of [
    [secret, older],
    [newSecret, newer],
  ] as const) {
    service.logs.length = 0;
    await service.logIn({ id, secret: presented }, user);
    await service.post('introspect', { client_id: id, client_secret: presented, token: 'none' });
    const secretOf = new Date(stored?.createdAt ?? 0).toISOString();
    expect(service.logs.map(line => JSON.parse(line))).toMatchObject([
      ['token.granted', { clientId: id, secretOf }],
      ['introspect.granted', { clientId: id, secretOf }],
    ]);
  }
});
