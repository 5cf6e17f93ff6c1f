import { expect, it } from 'vitest';
import { startWalk, textOf } from '../../support/console-walker.ts';
import { type Call, credentials, makeService, problem, tokens } from './fake-service.ts';

/** How the console keeps its login: RFC 6749 section 6, and reuse of a refresh token counts as theft (RFC 9700 section 4.14.2). */

const isRefresh = /^POST \/oauth\/v1\/token/;
const grantOf = ({ body }: Call) => new URLSearchParams(body).get('grant_type');

/** Creates a service whose access tokens expire at `expire`, and whose refreshes reply as given. */
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
  expect([page.status, textOf(page)]).toEqual([401, expect.stringContaining('You are signed out')]);
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
  ['an answer that got lost: the token may have been replaced', '', 0, 401],
  ['a request that was never sent', 'ENOTFOUND', 1, 200],
])('sends a refresh token again only after %s', async (_, code, sent, status) => {
  const { fake, expire } = expiring();
  const walk = startWalk({ service: fake });
  await walk.signIn(credentials);
  expire();
  const works = fake.replies['POST /oauth/v1/token'] ?? {};
  fake.replies['POST /oauth/v1/token'] = () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
  };
  expect((await walk.open('/')).status).toBe(502);
  fake.replies['POST /oauth/v1/token'] = works;
  const before = fake.count(isRefresh);
  expect([(await walk.open('/')).status, fake.count(isRefresh) - before]).toEqual([status, sent]);
});

it('keeps the refresh token if the gateway limits the calls', async () => {
  const { fake, expire } = expiring(() => ({ status: 429, json: { message: 'Too Many Requests' } }));
  const walk = startWalk({ service: fake });
  await walk.signIn(credentials);
  expire();
  expect((await walk.open('/')).status).toBe(429);
  expect((await walk.open('/')).status).toBe(429); // asked again, and not signed out
});

it('never goes on in the account of the link, if it was signed in by the form', async () => {
  const { fake, expire } = expiring(() => ({ status: 400, json: { error: 'invalid_grant' } }));
  const walk = startWalk({ service: fake, credentials: { ...credentials, username: 'demo@b.c' } });
  await walk.signIn(credentials);
  expire();
  fake.replies['POST /oauth/v1/token'] = call =>
    grantOf(call) === 'password' ? { json: tokens({ jti: 'new' }) } : { status: 400, json: { error: 'invalid_grant' } };
  expect((await walk.open('/')).status).toBe(401);
});
