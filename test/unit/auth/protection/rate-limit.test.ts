import { afterEach, describe, expect, it } from 'vitest';
import { type AuthService, startAuthService } from '../../../support/auth-service.ts';

let service: AuthService;
afterEach(() => service.stop());

/** Starts a service with one client and one user, and returns the form with which they log in. */
const startWith = async (limits: Parameters<typeof startAuthService>[0]) => {
  service = await startAuthService(limits);
  const { id, secret } = await service.makeClient();
  const { username, password } = await service.makeUser();
  return { grant_type: 'password', client_id: id, client_secret: secret, username, password };
};
type ClientChanges = Parameters<AuthService['clients']['updateClient']>[1];
const limited = { status: 429, json: { error: 'temporarily_unavailable' } };
const writes = () => service.database.operations.filter(operation => /^(?:Update|Put|Delete)/.test(operation));

describe('the limit of a client', () => {
  const wrong = (good: Record<string, string>, username: string) => ({ ...good, username, password: 'wrong' });

  it('refuses password grants beyond it until its minute is over, and never a refresh', async () => {
    const good = await startWith({ clientFailureLimit: 3 });
    const { json: tokens } = await service.post('token', good);
    const refresh = (token: string) =>
      service.post('token', { ...good, grant_type: 'refresh_token', refresh_token: token });
    for (let time = 0; time < 5; time++) expect((await service.post('token', good)).status).toBe(200);
    for (let time = 0; time < 5; time++) expect((await refresh('forged')).status).toBe(400);
    for (let time = 0; time < 3; time++)
      expect((await service.post('token', wrong(good, `no${time}@body`))).json.error).toBe('invalid_grant');
    const answer = await service.post('token', good);
    expect(answer).toMatchObject(limited);
    expect(answer.headers['retry-after']).toBe('60');
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 200 });
    const other = await service.makeClient();
    const others = { ...good, client_id: other.id, client_secret: other.secret };
    expect((await service.post('token', others)).status).toBe(200);
    service.clock.advance(60_000);
    expect((await service.post('token', good)).status).toBe(200);
  });

  it('costs neither a hash nor a write beyond it', async () => {
    const good = await startWith({ clientFailureLimit: 1 });
    await service.post('token', wrong(good, 'no@body'));
    service.hashes.length = 0;
    service.database.operations.length = 0;
    expect(await service.post('token', good)).toMatchObject(limited);
    expect(service.hashes).toEqual([]);
    expect(writes()).toEqual([]);
  });

  it.each<[what: string, form: Record<string, string>, error: string, client?: ClientChanges]>([
    ['a wrong secret', { client_secret: 'wrong' }, 'invalid_client'],
    ['a grant that does not exist', { grant_type: 'unknown' }, 'unsupported_grant_type'],
    ['a missing parameter', { username: '' }, 'invalid_request'],
    ['a parameter that is too long', { password: 'x'.repeat(1_025) }, 'invalid_request'],
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
    ['a scope that it may not have', { scope: 'webhooks:manage' }, 'invalid_scope', { scopes: ['webhooks:read'] }],
    ['a grant that it may not use', {}, 'unauthorized_client', { grants: ['refresh_token'] }],
  ])('comes after %s', async (_, change, error, ofClient) => {
    const good = await startWith({ clientFailureLimit: 1 });
    await service.post('token', wrong(good, 'no@body'));
    if (ofClient) await service.clients.updateClient(good.client_id, ofClient);
    expect((await service.post('token', { ...good, ...change })).json.error).toBe(error);
  });

  it('comes before a lock', async () => {
    const good = await startWith({ clientFailureLimit: 5 });
    for (let time = 0; time < 5; time++) await service.post('token', wrong(good, good.username));
    expect(await service.post('token', good)).toMatchObject(limited);
  });

  it('is not used up by refusals of a lockout', async () => {
    const good = await startWith({ clientFailureLimit: 8 });
    const other = await service.makeUser();
    const locked = wrong(good, good.username);
    for (let time = 0; time < 20; time++) expect((await service.post('token', locked)).status).toBe(400);
    const { username, password } = other;
    expect((await service.post('token', { ...good, username, password })).status).toBe(200);
  });
});
