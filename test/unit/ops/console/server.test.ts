import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../../../ops/console/api-source.ts';
import { type Console, startConsole } from '../../../../ops/console/server.ts';
import { Refusal } from '../../../../ops/console/views.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aSource, delivery, done, hostile } from './a-source.ts';

let running: Console;
let source: Source;
let folder: string;
let cookie: string;
const clock = frozenClock();
beforeAll(async () => {
  source = aSource();
  running = await startConsole(() => source, 0, clock.now);
  const { location, session } = await enter(tokenOf(running.makeLink()));
  folder = location;
  cookie = session;
});
beforeEach(() => {
  source = aSource();
  done.length = 0;
});
afterAll(() => running.stop());

const tokenOf = (link: string) => link.split('#')[1] ?? '';
const origin = () => running.url.slice(0, -1);

/** Sends a request as it stands: `fetch` sets and forbids headers of its own. */
const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const { port } = new URL(running.url);
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { host: `127.0.0.1:${port}`, ...headers } });
    sent.on('error', reject).on('response', async response => {
      const body = await text(response);
      if (!sent.writableFinished) await once(sent, 'finish'); // a browser shows no answer before it has sent all
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    sent.end(body);
  });
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const look = (path: string, headers = {}) => send('GET', `${folder}${path.slice(1)}`, { cookie, ...headers });
const change = (path: string, body = '', headers = {}) =>
  send('POST', `${folder}${path.slice(1)}`, { cookie, origin: origin(), ...form, ...headers }, body);
const enter = async (token: string) => {
  const { status, headers } = await send('POST', '/', { origin: origin(), ...form }, `token=${token}`);
  const [set = ''] = (headers['set-cookie'] as string[] | undefined) ?? [];
  return { status, location: String(headers.location), set, session: set.split(';')[0] ?? '' };
};

describe('the way in', () => {
  it('is a token that is good once, and becomes a cookie of a random folder', async () => {
    const token = tokenOf(running.makeLink());
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const { status, location, set } = await enter(token);
    expect(status).toBe(303);
    expect(location).toMatch(/^\/[\w-]{22}\/$/);
    expect(set).toMatch(/^emissor_console=[\w-]{43}; Path=\/[\w-]{22}\/; HttpOnly; SameSite=Strict$/);
    expect(set).not.toContain(token);
    expect((await enter(token)).status).toBe(403);
  });

  it.each(['', 'wrong', 'A'.repeat(43)])('refuses the token %j', async token => {
    expect(await enter(token)).toMatchObject({ status: 403, set: '' });
  });

  it('forgets the oldest links when many were printed and none used', async () => {
    const first = tokenOf(running.makeLink());
    const links = Array.from({ length: 10 }, () => tokenOf(running.makeLink()));
    expect((await enter(first)).status).toBe(403);
    expect((await enter(links[0] ?? '')).status).toBe(303);
  });

  it('shows nothing without a session, at the right path too', async () => {
    const wrong: Record<string, string>[] = [{}, { cookie: 'emissor_console=' }, { cookie: 'emissor_console=wrong' }];
    for (const headers of wrong) {
      const { status, body } = await send('GET', folder, headers);
      expect(status).toBe(401);
      expect(body).not.toContain('acme');
    }
    expect((await send('GET', '/start', { cookie })).status).toBe(404);
  });
});

describe('a session', () => {
  const minutes = 60_000;
  const openSession = async () => (await enter(tokenOf(running.makeLink()))).session;

  it('ends after an hour without a click; pages that renew themselves do not keep it', async () => {
    const own = { cookie: await openSession() };
    clock.advance(59 * minutes);
    expect((await look('/find', own)).status).toBe(200);
    clock.advance(59 * minutes);
    expect((await look('/find', { ...own, 'x-renewal': 'yes' })).status).toBe(200);
    clock.advance(1 * minutes);
    const { status, body } = await look('/find', own);
    expect([status, body]).toEqual([401, expect.stringContaining('nobody clicked for an hour')]);
    ({ session: cookie } = await enter(tokenOf(running.makeLink())));
  });

  it('is asked for by pages that do not renew themselves, which reads nothing and does not keep it', async () => {
    const own = { cookie: await openSession() };
    source = aSource({ readAccount: () => Promise.reject(new Error('it was read')) });
    const ask = () => send('HEAD', folder, { ...own, 'x-renewal': 'yes' });
    clock.advance(59 * minutes);
    expect((await ask()).status).toBe(200);
    clock.advance(1 * minutes);
    expect((await ask()).status).toBe(401);
    ({ session: cookie } = await enter(tokenOf(running.makeLink())));
  });

  it('ends by signing out, at once and alone', async () => {
    const own = { cookie: await openSession() };
    expect((await look('/sign-out', own)).status).toBe(404);
    expect((await change('/sign-out', '', { ...own, origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await look('/find', own)).status).toBe(200);
    const { status, headers } = await change('/sign-out', '', own);
    expect([status, headers.location]).toEqual([303, '/']);
    expect(headers['set-cookie']).toEqual([`emissor_console=; Path=${folder}; HttpOnly; SameSite=Strict; Max-Age=0`]);
    expect((await look('/find', own)).status).toBe(401);
    expect((await look('/find')).status).toBe(200);
  });

  it('is not opened by a link that nobody used for an hour', async () => {
    const [late, early] = [tokenOf(running.makeLink()), tokenOf(running.makeLink())];
    clock.advance(59 * minutes);
    expect((await enter(early)).status).toBe(303);
    clock.advance(1 * minutes);
    expect((await enter(late)).status).toBe(403);
    ({ session: cookie } = await enter(tokenOf(running.makeLink())));
  });

  it('of a console that was started anew says so', async () => {
    const old = await send('GET', `/${'A'.repeat(22)}/find`, { cookie });
    expect([old.status, old.body]).toEqual([404, expect.stringContaining('it was started anew')]);
    expect((await send('GET', '/start', { cookie })).body).toContain('There is no such page.');
  });
});

describe('other sites', () => {
  it.each([
    ['another name', 'evil.example.com'],
    ['another port', '127.0.0.1:1'],
    ['no port', '127.0.0.1'],
    ['another address of this machine', '127.0.0.2'],
  ])('get nothing by %s as Host', async (_, host) => {
    for (const method of ['GET', 'POST']) {
      const { status, body } = await send(method, folder, { cookie, host, origin: `http://${host}` });
      expect(status).toBe(421);
      expect(body).not.toContain('acme');
    }
  });

  it('get nothing by a second Host', async () => {
    const { host, port } = new URL(running.url);
    for (const second of ['evil.example.com', host]) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(
        `GET ${folder} HTTP/1.1\r\nHost: ${host}\r\nHost: ${second}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
      );
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it.each([
    ['none', undefined],
    ['null', 'null'],
    ['another port of this machine', 'http://127.0.0.1:1'],
    ['another site', 'https://evil.example.com'],
    ['the name that the Host is not', 'http://localhost:1'],
  ])('change nothing: the origin is %s', async (_, from) => {
    const path = `${folder}webhooks/demanda.criada/test`;
    const headers = { cookie, ...form, ...(from !== undefined && { origin: from }) };
    expect((await send('POST', path, headers, '')).status).toBe(403);
    expect((await send('POST', '/', { ...headers }, `token=${tokenOf(running.makeLink())}`)).status).toBe(403);
    expect(done).toEqual([]);
  });

  it('cannot frame, sniff or script a page', async () => {
    const { headers } = await look('/');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; /);
    expect(policy).not.toContain('unsafe');
  });

  it('are not led to by the language', async () => {
    for (const back of [
      '//evil.example.com',
      '/\\evil.example.com',
      'https://evil.example.com',
      '/x\r\nSet-Cookie: a=b',
    ]) {
      const answer = await look(`/language?to=pt&back=${encodeURIComponent(back)}`).catch(() => undefined);
      expect(answer?.headers.location ?? folder).toMatch(new RegExp(`^${folder}`));
    }
  });
});

describe('pages', () => {
  const webhook = '/webhooks/demanda.criada';
  const paths = [
    '/',
    webhook,
    `${webhook}?state=falhou&since=2026-11-01T00:00&until=${encodeURIComponent(hostile)}`,
    ...['new', 'demanda.criada/settings', 'demanda.criada/rotate', 'demanda.criada/remove'].map(
      page => `/webhooks/${page}`,
    ),
    `${webhook}/replay?state=falhou`,
    `${webhook}/deliveries/${delivery.id}`,
    '/find',
    `/find?id=${encodeURIComponent(hostile)}`,
    '/first-steps',
  ];

  it.each(paths)('%s escapes what tenants and strangers wrote', async path => {
    for (const language of ['en', 'pt-BR']) {
      const { status, body } = await look(path, { 'accept-language': language });
      expect(status).toBe(path.startsWith('/find?') ? 404 : 200);
      expect(body).not.toContain('<script>alert');
      expect(body).not.toContain('<img');
      expect(body).toContain(`<html lang="${language}">`);
    }
  });

  it('are not found where there is none', async () => {
    for (const path of [
      '/nothing',
      '/webhooks/',
      '/%ff',
      `${webhook}/deliveries/evt_unknown/x/y`,
      `${webhook}/deliveries/evt_unknown`,
    ]) {
      expect((await look(path)).status).toBe(404);
    }
    expect((await send('PUT', folder, { cookie })).status).toBe(405);
  });

  it('show the words of a later release as they are', async () => {
    const later = { ...delivery, state: 'adiada', lastResult: 'eco' };
    source = aSource({
      findDelivery: async () => later,
      latestDeliveries: async () => ({ deliveries: [later], next: null, timed: [later] }),
    });
    expect((await look(`${webhook}/deliveries/${delivery.id}`)).body).toContain('<div class="inside">adiada</div>');
    expect((await look(webhook)).body).toContain('>eco <span class="code">503</span>');
  });

  it('begin a range without times at the registration, and end it now', async () => {
    const { body } = await look(`${webhook}/replay?state=falhou`);
    expect(body).toContain(`name="until" value="${new Date(clock.now()).toISOString()}"`);
    expect(body).toContain('name="since" value="2026-11-20T10:00:00.000Z"');
  });

  it('ask before what touches many, with the count, and do it then', async () => {
    const { body } = await look(`${webhook}/replay?state=falhou&since=2026-11-01T00:00&until=2026-11-23T00:00`);
    expect(body).toContain('<b>1</b>');
    const range = 'state=falhou&since=2026-11-01T00%3A00%3A00.000Z&until=2026-11-23T00%3A00%3A00.000Z';
    expect((await change(`${webhook}/replay`, range)).status).toBe(303);
    expect(done).toEqual(['replay falhou 2026-11-01T00:00:00.000Z 2026-11-23T00:00:00.000Z']);
    const refused = await look(`${webhook}/replay?state=entregue`);
    expect([refused.status, refused.body]).toEqual([
      409,
      expect.stringContaining(`href="${folder.slice(0, -1)}${webhook}"`),
    ]);
  });

  it.each([
    [`${webhook}/test`, '', 'test demanda.criada'],
    [`${webhook}/reactivate`, '', 'reactivate demanda.criada'],
    [`${webhook}/settings`, 'url=x&remove=yes', 'change demanda.criada x none'],
    [`${webhook}/remove`, '', 'remove demanda.criada'],
    [`${webhook}/deliveries/${delivery.id}/resend`, '', `resend ${delivery.id}`],
    ['/first-steps/send', 'event=demanda.criada', 'test demanda.criada'],
  ])('change by a POST to %s, and by nothing else', async (path, body, what) => {
    await look(path);
    expect(done).toEqual([]);
    const { status, headers } = await change(path, body);
    expect([status, done]).toEqual([303, [what]]);
    expect(headers.location).toMatch(new RegExp(`^${folder}`));
  });

  it('say once what was done: not again, not to a page that renews itself, and not because the address says so', async () => {
    const said = 'The webhook is active again.';
    await change(`${webhook}/reactivate`);
    expect((await look(webhook, { 'x-renewal': 'yes' })).body).not.toContain(said);
    expect((await look(webhook)).body).toContain(said);
    expect((await look(webhook)).body).not.toContain(said);
    expect((await look(`${webhook}?done=reactivate&count=1`)).body).not.toContain(said);
  });

  it('say what was done on the page that it led to, not in another tab that is opened before', async () => {
    const said = 'The test is on its way.';
    await change(`${webhook}/test`);
    expect((await look(webhook)).body).not.toContain(said);
    expect((await look(`${webhook}/deliveries/${delivery.id}`)).body).toContain(said);
    source = aSource({ remove: () => Promise.reject(new Refusal('no')) }); // nothing is said of what was refused
    await change(`${webhook}/remove`);
    expect((await look('/')).body).not.toContain('role="status"');
  });

  it('act once for a button that is clicked twice, and again for the next page', async () => {
    const markOf = async () => {
      const { body } = await look(webhook);
      return /\/test"><input type="hidden" name="once" value="([\w-]{16})"/.exec(body)?.[1];
    };
    const mark = await markOf();
    const click = () => change(`${webhook}/test`, `once=${mark}`);
    const { headers: first } = await click();
    const { headers: second } = await click(); // of the first the browser shows nothing
    expect(second.location).toBe(first.location);
    expect((await look(`/${String(second.location).slice(folder.length)}`)).body).toContain('The test is on its way.');
    expect((await click()).status).toBe(409);
    const { session } = await enter(tokenOf(running.makeLink()));
    expect((await change(`${webhook}/test`, `once=${mark}`, { cookie: session })).status).toBe(409);
    await change(`${webhook}/test`, `once=${await markOf()}`);
    expect(done).toEqual(['test demanda.criada', 'test demanda.criada']);
  });

  it('put the focus on what was done or why not, and leave it alone otherwise', async () => {
    expect((await look(webhook)).body).not.toContain(' autofocus');
    await change(`${webhook}/reactivate`);
    expect((await look(webhook)).body).toContain('<p class="note" role="status" tabindex="-1" autofocus>');
    source = aSource({ test: () => Promise.reject(new Refusal('it is suspended')) });
    const refused = await change(`${webhook}/test`);
    expect(refused.body).toContain('role="alert" tabindex="-1" autofocus>it is suspended<');
    expect(refused.body).toContain('<body data-refresh="0">'); // what was typed is not renewed away
    const { body } = await change(`${webhook}/rotate`);
    expect(body).toContain('<main id="content" tabindex="-1" autofocus>');
  });

  it('show the page of a form that was refused once more, with what was typed', async () => {
    source = aSource({ replay: () => Promise.reject(new Refusal('another replay runs')) });
    const range = 'state=falhou&since=2026-11-01T00%3A00%3A00.000Z&until=2026-11-23T00%3A00%3A00.000Z';
    const { status, body } = await change(`${webhook}/replay`, range);
    expect([status, body]).toEqual([409, expect.stringContaining('another replay runs')]);
    expect(body).toContain('name="since" value="2026-11-01T00:00:00.000Z"');
  });

  it('have no button where the credentials may only read, and refuse the forms', async () => {
    source = aSource({ mayChange: false });
    for (const path of [webhook, `${webhook}/deliveries/${delivery.id}`, '/first-steps']) {
      expect((await look(path)).body).not.toMatch(/<form method="post" action="[^"]*(?:resend|reactivate|test|send)"/);
    }
    expect((await look(`${webhook}/replay?state=falhou`)).status).toBe(404);
    expect((await change(`${webhook}/deliveries/${delivery.id}/resend`)).status).toBe(404);
    expect(done).toEqual([]);
  });

  it('say what failed, and renew themselves', async () => {
    source = aSource({ findWebhook: () => Promise.reject(new Error('The API does not answer')) });
    const failed = await look(webhook);
    expect([failed.status, failed.body]).toEqual([502, expect.stringContaining('The API does not answer')]);
    expect(failed.body).toContain('<body data-refresh="5" data-failed>');
    expect(failed.body).toContain(`<a href="${folder}webhooks/demanda.criada">demanda.criada</a>`);
    source = aSource({ resend: () => Promise.reject(new Refusal('its webhook is suspended')) });
    const refused = await change(`${webhook}/deliveries/${delivery.id}/resend`);
    expect([refused.status, refused.body]).toEqual([409, expect.stringContaining('its webhook is suspended')]);
  });

  it('say it where a page cannot be made: no answer is empty', async () => {
    source = Object.defineProperty(aSource(), 'host', {
      get: () => {
        throw new TypeError('it is not a function');
      },
    });
    expect(await look('/find')).toMatchObject({ status: 500, body: 'Internal Server Error: it is not a function\n' });
  });

  it('refuse a form that is none, or too long', async () => {
    const path = `${webhook}/test`;
    expect((await change(path, '{}', { 'content-type': 'application/json' })).status).toBe(400);
    const long = await change(path, 'x'.repeat(8_000_000)); // bug: the connection was reset while it was sent
    expect([long.status, long.body]).toEqual([400, expect.stringContaining('<h1>')]);
    expect(done).toEqual([]);
  });

  it('speak the language that was chosen', async () => {
    const { headers } = await look(`/language?to=pt&back=${encodeURIComponent('/find')}`);
    expect(headers.location).toBe(`${folder}find`);
    const chosen = `${cookie}; ${String((headers['set-cookie'] as string[])[0]).split(';')[0]}`;
    expect((await look('/find', { cookie: chosen })).body).toContain('Procurar');
  });
});
