import { expect, it, onTestFinished } from 'vitest';
import { startAuthService } from '../../../support/auth-service.ts';

// Tests the limit on a client's rejected passwords (docs/en/tokens.md). The world tests check which failures count.

it('A client above its limit may refresh, but cannot log in until the minute ends.', async () => {
  const service = await startAuthService({ clientFailureLimit: 3 });
  onTestFinished(() => service.stop());
  const [client, other, user] = [await service.makeClient(), await service.makeClient(), await service.makeUser()];
  const { json: tokens } = await service.logIn(client, user);
  for (let time = 0; time < 5; time++) expect((await service.refresh(client, 'forged')).status).toBe(400);
  for (let time = 0; time < 3; time++) {
    const nobody = { username: `no${time}@body`, password: 'wrong' };
    expect((await service.logIn(client, nobody)).json.error).toBe('invalid_grant');
  }
  const limited = { status: 429, json: { error: 'temporarily_unavailable' }, headers: { 'retry-after': '60' } };
  expect(await service.logIn(client, user)).toMatchObject(limited);
  for (const [first, error] of [
    [{ client_secret: 'wrong' }, 'invalid_client'],
    [{ username: '' }, 'invalid_request'],
    [{ scope: 'everything' }, 'invalid_scope'],
  ] as const)
    expect((await service.logIn(client, user, first)).json.error).toBe(error);
  expect(await service.refresh(client, tokens.refresh_token)).toMatchObject({ status: 200 });
  expect(await service.logIn(other, user)).toMatchObject({ status: 200 });
  service.clock.advance(60_000);
  expect(await service.logIn(client, user)).toMatchObject({ status: 200 });
});
