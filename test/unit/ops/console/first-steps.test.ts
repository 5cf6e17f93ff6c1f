import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeDemo } from '../../../../ops/console/operator/demo.ts';
import type { ReceivedView, Verdict } from '../../../../ops/console/operator/sandbox.ts';
import type { Source } from '../../../../ops/console/source.ts';
import type { DeliveryRow, WebhookView } from '../../../../ops/console/views.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { listen } from '../../../../tools/support/listen.ts';
import { ask } from './a-page.ts';
import { aSource, delivery, done, integratorOf, operator, aWebhookView as webhook } from './a-source.ts';

beforeEach(() => void done.splice(0));

const claims = { account_id: 'acme', scope: 'webhooks:read', exp: 1_795_348_800 };
const got = { id: delivery.id, headers: {}, at: '2026-11-22T10:00:00.000Z' };

interface There {
  readonly claims?: typeof claims | undefined;
  readonly webhooks?: readonly WebhookView[];
  readonly deliveries?: readonly DeliveryRow[];
  readonly verdict?: Verdict;
}

/** Returns a local run on which that much was done. */
const localRun = ({ claims: said, webhooks = [], deliveries = [], verdict }: There): Source => {
  const { sandbox } = operator;
  if (!sandbox) throw new Error('There is a sandbox.');
  const received = verdict === undefined ? [] : [{ ...got, verdict } as ReceivedView];
  const changed = {
    ...sandbox,
    demo: { ...sandbox.demo, claims: async () => said },
    list: async () => ({ count: received.length, received }),
  };
  return aSource({
    listWebhooks: async () => webhooks,
    listDeliveries: async () => ({ deliveries, next: null }),
    operator: { ...operator, sandbox: changed },
  });
};

/** Returns the panel of an integrator for whom that much was done. */
const panel = (there: There, changes: Partial<Source> = {}): Source => {
  const login = { authUrl: 'https://auth.example.com', baseUrl: 'https://api.example.com', claims: async () => claims };
  return { ...integratorOf(localRun(there)), login, ...changes };
};

/** Returns which steps are done, and which one is next, by the marks of their headings. */
const marks = (document: string) =>
  [...document.matchAll(/id="step-\d" data-live><header class="(done|next|)"/g)].map(([, mark]) => mark);

/** Returns the commands of a page, as they are copied. */
const commandsOf = (document: string) =>
  [...document.matchAll(/<pre class="command">([^<]+)</g)].map(([, command = '']) =>
    command.replace(/&(#39|quot|amp);/g, (_, name: string) => ({ '#39': "'", quot: '"' })[name] ?? '&'),
  );

const delivered = { ...delivery, state: 'entregue' };

describe('the first steps', () => {
  it.each<[string, There, readonly string[]]>([
    ['nothing', {}, ['next', '', '', '']],
    ['a token', { claims }, ['done', 'next', '', '']],
    ['a webhook', { claims, webhooks: [webhook()] }, ['done', 'done', 'next', '']],
    [
      'a webhook that leads elsewhere',
      { claims, webhooks: [webhook({ address: 'hooks.example.com' })] },
      ['done', 'next', '', ''],
    ],
    [
      'an event that is on its way',
      { claims, webhooks: [webhook()], deliveries: [delivery] },
      ['done', 'done', 'done', 'next'],
    ],
    [
      'a wrong signature',
      { claims, webhooks: [webhook()], deliveries: [delivered], verdict: 'wrong' },
      ['done', 'done', 'done', 'next'],
    ],
    [
      'all',
      { claims, webhooks: [webhook()], deliveries: [delivered], verdict: 'verified' },
      ['done', 'done', 'done', 'done'],
    ],
    [
      'all but the token, by commands',
      { webhooks: [webhook()], deliveries: [delivered], verdict: 'verified' },
      ['next', 'done', 'done', 'done'],
    ],
  ])('show what is there on a local run: %s', async (_case, there, expected) => {
    expect(marks((await ask(localRun(there), '/first-steps')).document)).toEqual(expected);
  });

  it.each<[string, There, readonly string[]]>([
    ['nothing', {}, ['done', 'next', '', '']],
    ['a webhook', { webhooks: [webhook({ address: 'https://hooks.example.com/' })] }, ['done', 'done', 'next', '']],
    ['a test that was refused', { webhooks: [webhook()], deliveries: [delivery] }, ['done', 'done', 'done', 'next']],
    ['a test that was taken', { webhooks: [webhook()], deliveries: [delivered] }, ['done', 'done', 'done', 'done']],
  ])('show what is there on the panel: %s', async (_case, there, expected) => {
    const { document, text } = await ask(panel(there), '/first-steps');
    expect(marks(document)).toEqual(expected);
    expect(text).toContain('account_id acme');
  });

  it('act by the demo account on a local run, and show the secret in that one answer', async () => {
    const source = localRun({ claims });
    await ask(source, '/first-steps/token', { form: '' });
    const { document } = await ask(source, '/first-steps/register', { form: 'event=demanda.criada' });
    expect(document).toContain('data-copy="whsec_2"');
    expect((await ask(source, '/first-steps?event=demanda.criada')).document).not.toContain('whsec_');
    await ask(source, '/first-steps/send', { form: 'event=demanda.criada' });
    expect(done).toEqual([
      'log in',
      'register demanda.criada https://receiver.example.com/hooks',
      'publish demanda.criada',
    ]);
  });

  it('show the secret whatever fails after it was made', async () => {
    const source = { ...localRun({ claims }), listWebhooks: () => Promise.reject(new Error('throttled')) };
    const { document } = await ask(source, '/first-steps/register', { form: 'event=demanda.criada' });
    expect(document).toContain('data-copy="whsec_1"');
    expect(document).toContain('Could not be read: throttled');
    expect(document).toContain('<body data-refresh="0">');
  });

  it('lead an integrator to the form that registers, and send a test', async () => {
    const { document } = await ask(panel({}), '/first-steps');
    expect(document).toContain('href="/x/accounts/acme/webhooks/new?event=demanda.criada"');
    await ask(panel({ webhooks: [webhook()] }), '/first-steps/send', { form: 'event=demanda.criada' });
    expect(done).toEqual(['test acme demanda.criada']);
    const { document: readers } = await ask(panel({ webhooks: [webhook()] }, { mayChange: false }), '/first-steps');
    expect(readers).not.toMatch(/action="[^"]*first-steps|webhooks\/new/);
  });

  it('have commands with placeholders on the panel, and no secret', async () => {
    const source = panel({ webhooks: [webhook()] });
    const { document } = await ask(source, '/first-steps');
    const commands = commandsOf(document);
    expect(commands).toHaveLength(4);
    expect(commands[0]).toContain('client_secret=CLIENT_SECRET');
    expect(commands[0]).toContain("--data-urlencode 'password=PASSWORD'");
  });

  // Bug: steps two to four used a variable that no step set.
  it('have commands on the panel that do all four in one shell', async () => {
    const asked: string[] = [];
    const server = createServer(({ method, url, headers }, response) => {
      asked.push(`${method} ${url} ${headers.authorization ?? ''}`);
      response.end('{"token_type":"Bearer","access_token":"a.b-c_d","refresh_token":"r"}');
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const login = { authUrl: url, baseUrl: url, claims: async () => claims };
    const { document } = await ask(panel({}, { login }), '/first-steps');
    const env = { ...process.env, no_proxy: '*' };
    await promisify(execFile)('sh', ['-c', commandsOf(document).join('\n')], { env }).finally(() => server.close());
    expect(asked).toEqual([
      'POST /oauth/v1/token ',
      'POST /v1/webhooks Bearer a.b-c_d',
      'POST /v1/webhooks/demanda.criada/teste Bearer a.b-c_d',
      'GET /v1/webhooks/demanda.criada/entregas Bearer a.b-c_d',
    ]);
  });

  it('are there for nobody else: an operator at a stage logs in as nobody', async () => {
    const { sandbox: _, ...atStage } = operator;
    await expect(ask(aSource({ operator: atStage }), '/first-steps')).rejects.toThrow('There is no such page.');
  });

  it.each([
    ['a local run without a webhook of the demo account', localRun({}), true],
    ['a local run with one', localRun({ webhooks: [webhook()] }), false],
    ['a panel without a webhook', panel({}), true],
    ['a panel with one', panel({ webhooks: [webhook()] }), false],
  ])('are what the first page leads to: %s', async (_case, source, isShown) => {
    expect((await ask(source, '/')).text.includes('New here?')).toBe(isShown);
  });
});

describe('the demo account', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('keeps what its token says, and ends the session', async () => {
    const token = `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
    const asked: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, request) => {
      asked.push(`${url} ${String(request?.body).replace(/.*(token=[^&]+).*/, '$1')}`);
      if (String(url).endsWith('/revoke')) throw new TypeError('fetch failed'); // what was done stands
      const answer = String(url).endsWith('/v1/webhooks')
        ? { segredo: 'whsec_A' }
        : { access_token: token, refresh_token: 'refresh', expires_in: 900 };
      return Response.json(answer, { status: String(url).endsWith('/v1/webhooks') ? 201 : 200 });
    });
    const names = ['AuthUrl', 'BaseUrl', 'ClientId', 'ClientSecret', 'Username', 'Password', 'AccountId'];
    const demo = makeDemo(localTarget(Object.fromEntries(names.map(name => [name, `http://${name}`]))));
    expect(await demo.claims()).toBeUndefined();
    expect(await demo.register('demanda.criada', 'https://receiver.example.com/')).toBe('whsec_A');
    expect(await demo.claims()).toEqual(claims);
    expect(asked.at(-1)).toBe('http://AuthUrl/oauth/v1/revoke token=refresh');
    expect(JSON.stringify(await demo.claims())).not.toContain(token);
  });
});
