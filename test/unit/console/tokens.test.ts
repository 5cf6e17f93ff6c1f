import { expect, it } from 'vitest';
import { startWalk, textOf } from '../../support/console-walker.ts';
import { type Call, credentials, makeService, problem, tokens } from './fake-service.ts';

/** How the console keeps its login: RFC 6749 section 6, and reuse of a refresh token counts as theft (RFC 9700 section 4.14.2). */

const isRefresh = /^POST \/oauth\/v1\/token/;
const grantOf = ({ body }: Call) => new URLSearchParams(body).get('grant_type');

/** A service whose access tokens expire when told, and whose refreshes reply as given. */
function expiring(refreshed: () => ReturnType<typeof problem> = () => ({ json: tokens({ jti: 'new' }, 'rotated') })) {
  const state = { valid: tokens({ jti: 'first' }).access_token };
  const fake = makeService({
    'POST /oauth/v1/token': call => (grantOf(call) === 'password' ? { json: tokens({ jti: 'first' }) } : refreshed()),
    'GET /v1/webhooks': ({ headers }) =>
      headers.get('authorization') === `Bearer ${state.valid}`
        ? { json: { webhooks: [], eventos_sem_webhook: [] } }
        : problem(401, 'invalid_token'),
  });
  const expire = () => {
    state.valid = tokens({ jti: 'new' }).access_token;
  };
  return { fake, expire };
}

it('refreshes an expired access token once, however many requests wait', async () => {
  const { fake, expire } = expiring();
  const walk = startWalk({ service: fake });
  await walk.signIn(credentials);
  expire();
  const pages = await Promise.all([walk.open('/'), walk.open('/'), walk.open('/first-steps')]);
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(fake.calls.filter(call => grantOf(call) === 'refresh_token').length).toBe(1);
});

it('asks to sign in again if the refresh token is refused', async () => {
  const { fake, expire } = expiring(() => ({ status: 400, json: { error: 'invalid_grant' } }));
  const walk = startWalk({ service: fake });
  await walk.signIn(credentials);
  expire();
  const page = await walk.open('/');
  expect([page.status, textOf(page)]).toEqual([401, expect.stringContaining('Your session has ended')]);
});

it('signs in again by itself with the credentials of a local run', async () => {
  const { fake, expire } = expiring(() => ({ status: 400, json: { error: 'invalid_grant' } }));
  const walk = startWalk({ service: fake, credentials });
  await walk.enter(walk.makeLink());
  expire();
  fake.replies['POST /oauth/v1/token'] = call =>
    grantOf(call) === 'password' ? { json: tokens({ jti: 'new' }) } : { status: 400, json: { error: 'invalid_grant' } };
  expect((await walk.open('/')).status).toBe(200);
});

it.each([
  ['an answer that got lost is asked for again within the grace period', '', 25_000, true],
  ['later it is not: the token may have been replaced', '', 25_001, false],
  ['a request that was never sent can be sent at any time', 'ENOTFOUND', 86_400_000, true],
])('%s', async (_, code, later, isSent) => {
  let time = 0;
  const { fake, expire } = expiring();
  const walk = startWalk({ service: fake, now: () => time });
  await walk.signIn(credentials);
  expire();
  const works = fake.replies['POST /oauth/v1/token'] ?? {};
  fake.replies['POST /oauth/v1/token'] = () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
  };
  expect((await walk.open('/', { 'x-renewal': 'yes' })).status).toBe(502);
  fake.replies['POST /oauth/v1/token'] = works;
  const before = fake.count(isRefresh);
  time = Math.min(later, 3_599_999); // the session of the browser lives for an hour
  const { status } = await walk.open('/');
  expect([fake.count(isRefresh) - before, status]).toEqual(isSent ? [1, 200] : [0, 401]);
});
