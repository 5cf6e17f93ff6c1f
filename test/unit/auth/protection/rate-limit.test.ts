import { afterEach, describe, expect, it } from 'vitest';
import { type AuthService, type AuthServiceOptions, startAuthService } from '../../../support/auth-service.ts';

let service: AuthService;
afterEach(() => service.stop());

/** Starts a service with one client and one user, and returns the form with which they log in. */
const startWith = async (limits: AuthServiceOptions) => {
  service = await startAuthService(limits);
  const { id, secret } = await service.makeClient();
  const { username, password } = await service.makeUser();
  return { grant_type: 'password', client_id: id, client_secret: secret, username, password };
};
type ClientChanges = Parameters<AuthService['clients']['updateClient']>[1];
const limited = { status: 429, json: { error: 'temporarily_unavailable' } };
const writes = () => service.database.operations.filter(operation => /^(?:Update|Put|Delete)/.test(operation));
const elsewhere = { address: '203.0.113.8' };

describe('the limit of an IP address', () => {
  it('never refuses a client with the right secret, however many wrong ones come from its address', async () => {
    const good = await startWith({ ipFailureLimit: 3 });
    const { json: tokens } = await service.post('token', good);
    for (let time = 0; time < 20; time++) await service.post('token', { ...good, client_secret: 'wrong' });
    const { client_id, client_secret } = good;
    const refresh = { client_id, client_secret, grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    expect(await service.post('token', good)).toMatchObject({ status: 200 });
    expect(await service.post('token', refresh)).toMatchObject({ status: 200 });
    const token = { ...good, token: tokens.access_token };
    expect(await service.post('introspect', token)).toMatchObject({ status: 200, json: { active: true } });
    expect(await service.post('revoke', token)).toMatchObject({ status: 200 });
  });

  it.each(['token', 'revoke', 'introspect'] as const)(
    'tells every 401 beyond it as a 429 until its minute is over, at %s too',
    async endpoint => {
      const good = { ...(await startWith({ ipFailureLimit: 3 })), token: 'x' };
      const bad = { ...good, client_secret: 'wrong' };
      // all endpoints count together
      const statuses = [];
      for (const each of ['token', 'revoke', 'introspect'] as const)
        statuses.push((await service.post(each, bad)).status);
      expect(statuses).toEqual([401, 401, 401]);
      service.clock.advance(20_500);
      const answer = await service.post(endpoint, bad);
      expect(answer).toMatchObject(limited);
      expect(answer.headers['retry-after']).toBe('40');
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      service.clock.advance(39_499);
      expect(await service.post(endpoint, bad)).toMatchObject(limited);
      service.clock.advance(1);
      expect((await service.post(endpoint, bad)).status).toBe(401);
    },
  );

  it.each([
    ['a wrong secret', (good: Record<string, string>) => ({ ...good, client_secret: 'wrong' })],
    ['an unknown client', (good: Record<string, string>) => ({ ...good, client_id: 'nobody' })],
    ['no secret', (good: Record<string, string>) => ({ ...good, client_secret: '' })],
    ['no client', () => ({ grant_type: 'password' })],
    ['a grant that does not exist', () => ({ grant_type: 'unknown', client_id: 'nobody', client_secret: 'wrong' })],
  ])('takes %s for a failure', async (_, change) => {
    const good = await startWith({ ipFailureLimit: 1 });
    expect((await service.post('token', change(good))).status).toBe(401);
    expect(await service.post('token', change(good))).toMatchObject(limited);
  });

  it('changes no other answer', async () => {
    const good = await startWith({ ipFailureLimit: 1 });
    const bad = { ...good, client_secret: 'wrong' };
    for (let time = 0; time < 3; time++) await service.post('token', bad);
    expect((await service.post('token', { ...bad, grant_type: '' })).status).toBe(400);
    expect((await service.post('token', bad, { headers: { authorization: 'Basic %' } })).status).toBe(400);
    expect((await service.post('token', { ...good, password: 'wrong' })).json.error).toBe('invalid_grant');
    expect((await service.post('token', { ...good, grant_type: 'unknown' })).json.error).toBe('unsupported_grant_type');
  });

  it.each([
    ['one address and two headers', ['203.0.113.7', '203.0.113.7'], ['203.0.113.8', '203.0.113.9'], [401, 429]],
    ['two addresses and one header', ['203.0.113.7', '203.0.113.8'], ['203.0.113.9', '203.0.113.9'], [401, 401]],
  ])('is that of the address as the gateway saw it: %s', async (_, addresses, values, statuses) => {
    const bad = { ...(await startWith({ ipFailureLimit: 1 })), client_secret: 'wrong' };
    for (const [at, address] of addresses.entries()) {
      const headers = { 'x-forwarded-for': values[at] ?? '', forwarded: `for=${values[at]}` };
      expect((await service.post('token', bad, { address, headers })).status).toBe(statuses[at]);
      expect(service.logs.at(-1)).toContain(`"ip":"${address}"`);
    }
  });

  it('writes nothing beyond it in a flood, not even a count', async () => {
    const bad = { ...(await startWith({ ipFailureLimit: 100 })), client_secret: 'wrong' };
    const flood = async (times: number) => {
      service.database.operations.length = 0;
      const statuses = [];
      for (let time = 0; time < times; time++) statuses.push((await service.post('token', bad)).status);
      return { statuses: new Set(statuses), writes: writes().length };
    };
    expect(await flood(100)).toEqual({ statuses: new Set([401]), writes: 100 });
    expect(await flood(500)).toEqual({ statuses: new Set([429]), writes: 0 });
  });

  it('is exact for failures at the same moment, each of which writes once at most', async () => {
    const bad = { ...(await startWith({ ipFailureLimit: 10 })), client_secret: 'wrong' };
    await service.post('token', bad);
    service.database.operations.length = 0;
    const answers = await Promise.all(Array.from({ length: 60 }, () => service.post('token', bad)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(51);
    expect(writes().length).toBeLessThanOrEqual(60);
    service.database.operations.length = 0;
    expect(await service.post('token', bad)).toMatchObject(limited);
    expect(writes()).toEqual([]);
  });

  it('is not used up by successes', async () => {
    const good = await startWith({ ipFailureLimit: 1 });
    for (let time = 0; time < 3; time++) expect((await service.post('token', good)).status).toBe(200);
    expect((await service.post('token', { ...good, client_secret: 'wrong' })).status).toBe(401);
    expect((await service.post('token', good, elsewhere)).status).toBe(200);
  });
});

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
