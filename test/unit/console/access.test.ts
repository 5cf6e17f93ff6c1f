import { describe, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../../console/sessions.ts';
import { makeConsoleClient, startConsole, textOf } from '../../support/console-client.ts';
import { credentials, makeService, problem, service, tokens, unanswered, webhook } from './fake-service.ts';

// Tests access control with the rules of the OWASP Session Management and CSRF Prevention Cheat Sheets.

const hour = 3_600_000;
const clockAt = (start = 1_000) => {
  const clock = { time: start, now: () => clock.time };
  return clock;
};

async function startSession(fake = makeService(), options = {}) {
  const browser = startConsole({ service: fake, ...options });
  return { fake, page: await browser.signIn(credentials), ...browser };
}

describe('a link from the terminal', () => {
  it('signs in only once, and only with the right token', async () => {
    const browser = startConsole({ service: makeService(), credentials });
    const link = browser.makeLink();
    expect((await browser.enter('#wrong')).status).toBe(403);
    expect((await browser.enter(link)).status).toBe(200);
    expect((await makeConsoleClient(browser.fetch).enter(link)).status).toBe(403);
  });

  it.each([hour, hour + 1])('signs in for one hour (age: %i ms)', async age => {
    const clock = clockAt();
    const browser = startConsole({ service: makeService(), credentials, now: clock.now });
    const link = browser.makeLink();
    clock.time += age;
    expect((await browser.enter(link)).status).toBe(age > hour ? 403 : 200);
  });
});

describe('the sign-in form', () => {
  it('uses the password grant, and opens the console of the account', async () => {
    const { fake, page, folder } = await startSession();
    expect([page.status, folder()]).toEqual([200, expect.stringMatching(/^\/[\w-]{22}$/)]);
    const form = Object.fromEntries(new URLSearchParams(fake.calls[0]?.body));
    expect(form).toEqual({ grant_type: 'password', ...credentials });
    expect(textOf(page)).toContain('acme');
  });

  it.each([
    [{ status: 400, json: { error: 'invalid_grant' } }, 400, 'The service rejected these credentials'],
    [{ status: 401, json: { error: 'invalid_client' } }, 401, 'The service rejected these credentials'],
    [{ status: 429, json: {}, headers: { 'retry-after': '7' } }, 429, 'busy. Try again in a moment. Retry-After: 7 s'],
    [() => unanswered('ECONNREFUSED'), 502, 'did not respond (ECONNREFUSED)'],
    [{ status: 200, json: {} }, 200, 'not the token endpoint'],
  ])('shows the reason for a failure, and keeps all values except secrets: %j', async (reply, status, why) => {
    const page = await startConsole({ service: makeService({ 'POST /oauth/v1/token': reply }) }).signIn(credentials);
    expect([page.status, textOf(page)]).toEqual([status, expect.stringContaining(why)]);
    expect(page.html).toContain('value="client"');
    for (const secret of [credentials.client_secret, credentials.password]) expect(page.html).not.toContain(secret);
  });
});

describe('a session', () => {
  it.each([
    ['a click extends it', {}, 200],
    ['an automatic refresh does not extend it', { 'x-refresh': 'yes' }, 401],
  ])('expires after an hour: %s', async (_, headers, status) => {
    const clock = clockAt();
    const browser = await startSession(makeService(), { now: clock.now });
    clock.time += hour - 1;
    await browser.open('/', headers);
    clock.time += hour - 1;
    expect((await browser.open('/')).status).toBe(status);
  });

  it.each(['/webhooks/demanda.criada?state=falhou', '/'])('reopens %s after it ends or after a restart', async path => {
    const browser = await startSession();
    browser.cookies.clear();
    const [ended, restarted] = [await browser.open(path), await browser.send(`/${'x'.repeat(22)}${path}`)];
    expect([ended.status, restarted.status]).toEqual([401, 404]);
    for (const { html } of [ended, restarted]) {
      const return_to = /name="return_to" value="([^"]*)"/.exec(html)?.[1] ?? '';
      expect((await browser.signIn({ ...credentials, return_to })).path).toBe(path);
    }
  });

  it('is deleted from the store when it expires', async () => {
    vi.useFakeTimers();
    const store = createMemoryStore();
    const save: typeof store.save = (_, ...rest) => store.save('key', ...rest);
    await startConsole({ service: makeService(), store: { ...store, save } }).signIn(credentials);
    vi.advanceTimersByTime(hour - 1);
    expect(await store.load('key')).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(await store.load('key')).toBeUndefined();
    vi.useRealTimers();
  });

  it('ends when the user signs out, which also revokes the refresh token', async () => {
    const { fake, ...browser } = await startSession();
    await browser.post('/sign-out');
    expect(new URLSearchParams(fake.calls.at(-1)?.body).get('token')).toBe('the-refresh-token');
    expect((await browser.open('/')).status).toBe(401);
  });

  it('has a cookie that is limited to its folder and hidden from scripts', async () => {
    const browser = startConsole({ service: makeService() });
    const { headers } = await browser.post('/sign-in', credentials, { 'x-stay': 'yes' });
    expect(headers.get('set-cookie')).toMatch(
      /^emissor_console=[\w-]{43}; Path=\/[\w-]{22}; HttpOnly; SameSite=Strict$/,
    );
  });
});

describe('a forged request', () => {
  type Browser = ReturnType<typeof startConsole>;
  const remove = '/webhooks/demanda.criada/delete';
  it.each([
    ['another host, as in DNS rebinding', 421, (browser: Browser) => browser.send('http://evil.example/')],
    ['another origin', 403, (browser: Browser) => browser.post(remove, {}, { origin: 'http://127.0.0.1:9999' })],
    ['no origin', 403, (browser: Browser) => browser.post(remove, {}, { origin: '' })],
    ['a wrong form token', 403, (browser: Browser) => browser.post(remove, { form_token: 'guessed' })],
  ])('is rejected if it has %s', async (_, status, act) => {
    const { fake, ...browser } = await startSession();
    const before = fake.calls.length;
    expect([(await act(browser)).status, fake.calls.length]).toEqual([status, before]);
  });

  it('is rejected if its form is larger than 64 KiB', async () => {
    const browser = startConsole({ service: makeService() });
    expect((await browser.signIn({ ...credentials, username: 'x'.repeat(65_537) })).status).toBe(413);
  });
});

describe('the page', () => {
  const { client_secret, password } = credentials;
  const secrets = [client_secret, password, 'the-refresh-token', tokens().access_token, 'Bearer canary'];
  const own = '/webhooks/demanda.criada';
  const paths = ['/', '/first-steps', '/register', own, `${own}/change`, '/nowhere'];
  const replies = {
    'GET /v1/webhooks': { json: { webhooks: [webhook()], eventos_sem_webhook: [] } },
    'GET /v1/webhooks/demanda.criada': { json: webhook({ autorizacao_definida: true }) },
    'PUT /v1/webhooks/demanda.criada': problem(422, 'validation_failed'),
  };

  it.each(paths)('%s runs only its own script, is not cached, and contains no secret', async path => {
    const browser = await startSession(makeService(replies));
    const { headers, html } = await browser.open(path);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; form-action 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    for (const secret of secrets) expect(html).not.toContain(secret);
  });

  it('does not show an entered header again after an error', async () => {
    const browser = await startSession(makeService(replies));
    const form = { url: 'https://x.example.com', autorizacao: 'Bearer canary' };
    const page = await browser.post(`${own}/change`, form);
    expect([page.status, page.html.includes('canary')]).toEqual([422, false]);
    expect(page.html).toContain(form.url);
    expect(page.html).toContain('Rejected: validation_failed.');
  });
});

describe('the language', () => {
  const languages = { 'pt-BR,pt;q=0.9': 'pt-BR', 'de,pt;q=0.5': 'pt-BR', 'en-US': 'en', '': 'en', fr: 'en' };
  it.each(Object.entries(languages))('for %j is %s on pages and in API requests', async (acceptLanguage, expected) => {
    const fake = makeService();
    const browser = startConsole({ service: fake });
    const page = await browser.signIn(credentials, { 'accept-language': acceptLanguage });
    expect(page.html).toContain(`<html lang="${expected}">`);
    expect(fake.calls.at(-1)?.headers.get('accept-language')).toBe(expected === 'en' ? 'en' : 'pt');
  });

  it('switches on the same page, and neither the switch nor a sign-in redirects to another site', async () => {
    const browser = await startSession();
    const page = await browser.send(`/language?to=pt&back=${browser.folder()}/first-steps`);
    expect([page.path, page.html.includes('Primeiros passos')]).toEqual(['/first-steps', true]);
    const foreignUrls =
      '//e.example /a/..//e.example /.//e.example http://[ /%09/e.example https://e.example/ /%5ce.example';
    for (const back of foreignUrls.split(' ')) {
      expect((await browser.send(`/language?to=en&back=${back}`)).html).toContain('/sign-in"');
      const form = { ...credentials, return_to: decodeURIComponent(back) };
      const { headers } = await browser.post('/sign-in', form, { 'x-stay': 'yes' });
      expect(headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:4005\//);
    }
  });
});

it('the console sends requests only to the two URLs of its stage', async () => {
  const { fake, ...browser } = await startSession();
  await browser.open('/first-steps');
  await browser.post('/sign-out');
  expect(new Set(fake.calls.map(({ origin }) => origin))).toEqual(new Set([service.authUrl, service.baseUrl]));
});
