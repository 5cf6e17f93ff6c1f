import { expect, it } from 'vitest';
import { startConsole, textOf } from '../../support/console-client.ts';
import { type Call, credentials, makeService, problem, tokens, unanswered } from './fake-service.ts';

// Tests token refreshes (RFC 6749, section 6). The service treats the reuse of a refresh token as theft (RFC 9700, section 4.14.2).

const isRefresh = /^POST \/oauth\/v1\/token/;
const grantOf = ({ body }: Call) => new URLSearchParams(body).get('grant_type');

/** Signs in, and then expires the access token. `refreshReply` is the reply to refreshes. */
async function startExpired(
  refreshReply: ReturnType<typeof problem> = { json: tokens({ jti: 'new' }, 'rotated') },
  options = {},
  isByLink = false,
) {
  const state = { valid: tokens({ jti: 'first' }).access_token };
  const fake = makeService({
    'POST /oauth/v1/token': call => (grantOf(call) === 'password' ? { json: tokens({ jti: 'first' }) } : refreshReply),
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

const rejection = { status: 400, json: { error: 'invalid_grant' } };
const passwordOnly = (call: Call) => (grantOf(call) === 'password' ? { json: tokens({ jti: 'new' }) } : rejection);

it('the console refreshes an expired access token once for concurrent requests', async () => {
  const { fake, ...browser } = await startExpired();
  const pages = await Promise.all([browser.open('/'), browser.open('/'), browser.open('/first-steps')]);
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(fake.calls.filter(call => grantOf(call) === 'refresh_token').length).toBe(1);
});

it('the console requires a new sign-in if the service rejects the refresh token', async () => {
  const browser = await startExpired(rejection);
  const page = await browser.open('/');
  expect([page.status, textOf(page)]).toEqual([401, expect.stringContaining('You are signed out')]);
});

it('the console signs in again automatically after a sign-in by link', async () => {
  const { fake, ...browser } = await startExpired(rejection, { credentials }, true);
  fake.replies['POST /oauth/v1/token'] = passwordOnly;
  expect((await browser.open('/')).status).toBe(200);
});

it.each([
  ['a lost response', '', 0, 401],
  ['an unsent request', 'ENOTFOUND', 1, 200],
])('after %s (code %j), the console sends the refresh token %i more times', async (_, code, sent, status) => {
  const { fake, ...browser } = await startExpired();
  const works = fake.replies['POST /oauth/v1/token'] ?? {};
  fake.replies['POST /oauth/v1/token'] = () => unanswered(code);
  expect((await browser.open('/')).status).toBe(502);
  fake.replies['POST /oauth/v1/token'] = works;
  const before = fake.count(isRefresh);
  expect([(await browser.open('/')).status, fake.count(isRefresh) - before]).toEqual([status, sent]);
});

it('the console keeps the refresh token after a 429 response', async () => {
  const browser = await startExpired({ status: 429, json: { message: 'Too Many Requests' } });
  expect((await browser.open('/')).status).toBe(429);
  expect((await browser.open('/')).status).toBe(429); // from a second refresh, without a sign-out
});

it('the console does not use the credentials for links after a sign-in with the form', async () => {
  const { fake, ...browser } = await startExpired(rejection, { credentials: { ...credentials, username: 'demo@b.c' } });
  fake.replies['POST /oauth/v1/token'] = passwordOnly;
  expect((await browser.open('/')).status).toBe(401);
});
