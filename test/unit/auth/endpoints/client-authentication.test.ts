import { afterAll, expect, it } from 'vitest';
import { startAuthService } from '../../../support/auth-service.ts';

// Tests that the audit trail identifies each client, its secret and its IP address (docs/logs.md).

const service = await startAuthService();
afterAll(() => service.stop());

it('The log line of a granted request identifies the secret that the client used.', async () => {
  const { id, secret } = await service.makeClient();
  service.clock.advance(1_000);
  const newSecret = (await service.clients.rotateClientSecret(id))?.clientSecret ?? '';
  const user = await service.makeUser();
  const [newer, older] = (await service.clients.findClient(id))?.secrets ?? [];
  for (const [presented, stored] of Object.entries({ [secret]: older, [newSecret]: newer })) {
    service.logs.length = 0;
    await service.logIn({ id, secret: presented }, user);
    await service.post('introspect', { client_id: id, client_secret: presented, token: 'none' });
    const secretCreatedAt = new Date(stored?.createdAt ?? 0).toISOString();
    expect(service.logs.map(line => JSON.parse(line))).toMatchObject([
      ['token.granted', { clientId: id, secretCreatedAt }],
      ['introspect.granted', { clientId: id, secretCreatedAt }],
    ]);
  }
});

it('The log line of a rejected client contains the IP address from the gateway, not one from a header.', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
  const form = { grant_type: 'password', client_id: 'nobody', client_secret: 'wrong' };
  expect(await service.post('token', form, { headers })).toMatchObject({ status: 401 });
  expect(service.logs.at(-1)).toContain('"ip":"203.0.113.7"');
});
