import { expect, it } from 'vitest';
import { startConsole, textOf } from '../../support/console-client.ts';
import { type Call, credentials, makeService, problem, tokens, unanswered } from './fake-service.ts';

/** How the console keeps its login: RFC 6749 section 6, and reuse of a refresh token counts as theft (RFC 9700 section 4.14.2). */

const isRefresh = /^POST \/oauth\/v1\/token/;
const grantOf = ({ body }: Call) => new URLSearchParams(body).get('grant_type');

/** Signs in at a service whose access token then expires, and whose refreshes reply as given. */
async function expired(
  refreshed: ReturnType<typeof problem> = { json: tokens({ jti: 'new' }, 'rotated') },
  options = {},
  isByLink = false,
) {
  const state = { valid: tokens({ jti: 'first' }).access_token };
  const fake = makeService({
    'POST /oauth/v1/token': call => (grantOf(call) === 'password' ? { json: tokens({ jti: 'first' }) } : refreshed),
    'GET /v1/webhooks': ({ headers }) =>
      headers.get('authorization') === `Bearer ${state.valid}`
        ? { json: { webhooks: [], eventos_sem_webhook: [] } }
        : problem(401, 'invalid_token'),
  });
  const browser = startConsole({ service: fake, ...options });
  await (isByLink ? browser.enter(browser.makeLink()) : browser.signIn(credentials));
  state.valid = tokens({ jti: 'new' }).access_token;
  return { fake, ...browser };
}

const refused = { status: 400, json: { error: 'invalid_grant' } };
const grantsOnly = (call: Call) => (grantOf(call) === 'password' ? { json: tokens({ jti: 'new' }) } : refused);

it('refreshes an expired access token once, however many requests wait', async () => {
  const { fake, ...browser } = await expired();
  const pages = await Promise.all([browser.open('/'), browser.open('/'), browser.open('/first-steps')]);
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(fake.calls.filter(call => grantOf(call) === 'refresh_token').length).toBe(1);
});

it('asks to sign in again if the refresh token is refused', async () => {
  const browser = await expired(refused);
  const page = await browser.open('/');
  expect([page.status, textOf(page)]).toEqual([401, expect.stringContaining('You are signed out')]);
});

it('signs in again by itself with the credentials of a local run', async () => {
  const { fake, ...browser } = await expired(refused, { credentials }, true);
  fake.replies['POST /oauth/v1/token'] = grantsOnly;
  expect((await browser.open('/')).status).toBe(200);
});

it.each([
  ['an answer that got lost: the token may have been replaced', '', 0, 401],
  ['a request that was never sent', 'ENOTFOUND', 1, 200],
])('sends a refresh token again only after %s', async (_, code, sent, status) => {
  const { fake, ...browser } = await expired();
  const works = fake.replies['POST /oauth/v1/token'] ?? {};
  fake.replies['POST /oauth/v1/token'] = () => unanswered(code);
  expect((await browser.open('/')).status).toBe(502);
  fake.replies['POST /oauth/v1/token'] = works;
  const before = fake.count(isRefresh);
  expect([(await browser.open('/')).status, fake.count(isRefresh) - before]).toEqual([status, sent]);
});

it('keeps the refresh token if the gateway limits the calls', async () => {
  const browser = await expired({ status: 429, json: { message: 'Too Many Requests' } });
  expect((await browser.open('/')).status).toBe(429);
  expect((await browser.open('/')).status).toBe(429); // asked again, and not signed out
});

it('never continues in the account of the link after a sign-in by the form', async () => {
  const { fake, ...browser } = await expired(refused, { credentials: { ...credentials, username: 'demo@b.c' } });
  fake.replies['POST /oauth/v1/token'] = grantsOnly;
  expect((await browser.open('/')).status).toBe(401);
});
