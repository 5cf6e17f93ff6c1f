import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedDelivery } from '../../ops/local/receiver.ts';
import type { Client } from '../../tools/support/accounts.ts';
import { listen } from '../../tools/support/listen.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import {
  callApi,
  createClient,
  openSession,
  publish,
  register,
  type Session,
  untilSettled,
} from '../support/e2e-service.ts';
import { authUrl, baseUrl, startSeparateRun, until } from '../support/e2e-target.ts';
import {
  expectAccessible,
  expectContrast,
  expectReachableByKeyboard,
  openWindow,
  saveScreenshot,
  startBrowser,
} from './browser.ts';

// Tests the pages in a browser. The bundle that integrators run serves the pages.

const hostileResponse = `<script>document.title='run'</script><img src=x onerror="document.title='run'">`;
const folder = mkdtempSync(path.join(tmpdir(), 'emissor-console-'));
const file = path.join(folder, 'emissor-console.mjs');
let browser: Browser;
let receiver: Receiver;
let client: Client;
let session: Session;
let failedId: string;
let program: Awaited<ReturnType<typeof serve>>;

/** Runs the bundle as integrators do. */
async function serve() {
  const child = spawn(process.execPath, [file, '--auth', authUrl, '--base', `${baseUrl}/`], { cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const url = await until('the address', async () => /Console: (\S+)/.exec(output)?.[1]);
  return {
    url,
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      return child.exitCode;
    },
  };
}

beforeAll(async () => {
  execFileSync(process.execPath, ['console/bundle.ts', '--bundle', file], { stdio: 'ignore' });
  [browser, receiver, client] = await Promise.all([startBrowser(), startReceiver('console'), createClient()]);
  session = await openSession(client);
  program = await serve();
  receiver.script('/works', { status: 200 }, { status: 500 }, { status: 200 });
  receiver.script('/fails', { status: 503, body: hostileResponse });
  receiver.script('/gone', { status: 410 });
  await register(session, { evento: 'demanda.criada', url: receiver.url('/works'), autorizacao: 'Bearer canary' });
  await register(session, { evento: 'proposta.recebida', url: receiver.url('/fails') });
  await register(session, { evento: 'demanda.finalizada', url: receiver.url('/gone') });
  const { account } = session.user;
  const send = (event: string, more = {}) => publish(account, { event, id_demanda: 4711, ...more });
  for (let sent = 0; sent < 25; sent++) await send('demanda.criada');
  failedId = await send('proposta.recebida', { id_proposta: 77 });
  const heldId = await send('demanda.finalizada');
  await send('demanda.cancelada'); // without a webhook
  await Promise.all([failedId, heldId].map(id => untilSettled(id)));
}, 120_000);
afterAll(async () => {
  await Promise.all([browser.close(), receiver.stop(), program.stop()]);
  rmSync(folder, { recursive: true });
});

const webhook = (event: string) => `/webhooks/${event}`;
const open = (options?: Parameters<typeof openWindow>[2]) =>
  openWindow(browser, program.url, options, { client, user: session.user });

describe('every page', () => {
  const paths = () => [
    '/',
    webhook('demanda.criada'),
    webhook('proposta.recebida'),
    `${webhook('proposta.recebida')}?state=falhou&since=2026-01-01T00:00`,
    `${webhook('proposta.recebida')}/replay?state=falhou`,
    `${webhook('proposta.recebida')}/deliveries/${failedId}`,
    '/first-steps',
    '/register?evento=*',
    ...['change', 'secret', 'delete'].map(step => `${webhook('demanda.criada')}/${step}`),
  ];

  it.each([
    ['a light desktop', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
    ['a tablet in Portuguese', { viewport: { width: 768, height: 1_024 }, colorScheme: 'light', locale: 'pt-BR' }],
    ['a dark phone in Portuguese', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'pt-BR' }],
  ] as const)(
    'passes axe on %s, fits the window, and sends requests only to its own host',
    async (_, options) => {
      const { page, base, problems, context } = await open(options);
      for (const below of paths()) {
        const response = await page.goto(base + below);
        const content = await page.content();
        expect([below, response?.status()]).toEqual([below, 200]);
        expect(content.length).toBeLessThan(100_000);
        for (const secret of ['eyJ', 'whsec_', 'canary', client.clientSecret, session.user.password])
          expect([below, content.includes(secret)]).toEqual([below, false]);
        await expectAccessible(page);
        await expectContrast(page);
        await saveScreenshot(page);
        await expectReachableByKeyboard(page);
      }
      expect(problems).toEqual([]);
      await context.close();
    },
    120_000,
  );

  it('is in Portuguese if the browser requests Portuguese', async () => {
    const { page, base, context } = await open({ viewport: { width: 1440, height: 900 }, locale: 'pt-BR' });
    await page.goto(base + webhook('proposta.recebida'));
    expect(await page.textContent('main')).toContain('Entregas');
    await saveScreenshot(page, '-pt');
    await context.close();
  });

  it('works without JavaScript', async () => {
    const { page, base, context } = await open({ javaScriptEnabled: false });
    for (const below of paths()) expect((await page.goto(base + below))?.status()).toBe(200);
    await page.goto(base + webhook('proposta.recebida'));
    await page.click('.chip:has-text("Failed")');
    await page.locator('#deliveries td a').first().click();
    await page.click('button:has-text("Resend")');
    await page.waitForSelector('text=The delivery is being resent.');
    await context.close();
  });

  it('prints only its content', async () => {
    const { page, base, context } = await open();
    await page.goto(base + webhook('demanda.criada'));
    await page.emulateMedia({ media: 'print' });
    for (const hidden of ['header.top form', '.actions', '.chips'])
      expect(await page.locator(hidden).first().isVisible()).toBe(false);
    expect(await page.locator('#deliveries').isVisible()).toBe(true);
    await context.close();
  });
});

describe('an open page', () => {
  it('refreshes its cards, except a card with a form in use', async () => {
    const { page, base, context } = await open();
    await page.goto(base + webhook('demanda.criada'));
    await page.click('summary:has-text("Custom")');
    await page.fill('input[name=since]', '2026-11-22T10:00');
    const before = await page.textContent('footer');
    await expect.poll(() => page.textContent('footer')).not.toBe(before);
    expect(await page.inputValue('input[name=since]')).toBe('2026-11-22T10:00');
    await context.close();
  });

  it('shows a banner while it cannot refresh', async () => {
    const { page, base, context } = await open();
    await page.goto(`${base}/`);
    await page.route('**/*', route => route.abort());
    await page.waitForSelector('#banner:visible');
    await page.unroute('**/*');
    await page.waitForSelector('#banner', { state: 'hidden' });
    await context.close();
  });

  it('submits a form once on a double click', async () => {
    const { page, base, context } = await open();
    await page.goto(`${base}${webhook('demanda.criada')}/secret`);
    await page.dblclick('button.main');
    await page.waitForSelector('.secret-value');
    const { json } = await callApi('GET', '/v1/webhooks/demanda.criada', session);
    expect(json).toMatchObject({ segredos_anteriores: [{}] });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('.secret .copy');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.textContent('.secret-value'));
    await expectAccessible(page);
    await page.reload();
    expect(await page.content()).not.toContain('whsec_');
    await context.close();
  });
});

it('a site on another port gets no cookie, and can neither read nor change the webhooks', async () => {
  const { context, base } = await open();
  const requestHeaders: IncomingHttpHeaders[] = [];
  const site = createServer((request, response) => {
    requestHeaders.push(request.headers);
    response.setHeader('content-type', 'text/html');
    response.end(`<form method="post" action="${base}${webhook('demanda.criada')}/delete"><button>x</button></form><script>
      fetch('${base}/', { credentials: 'include' }).then(() => { document.title = 'read' }, () => { document.title = 'refused' });
    </script>`);
  });
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${await listen(site)}/`);
  await other.waitForFunction("document.title === 'refused'");
  await other.click('button');
  expect(await other.textContent('main')).toContain('another site');
  expect(requestHeaders.every(({ cookie }) => cookie === undefined)).toBe(true);
  expect((await callApi('GET', '/v1/webhooks/demanda.criada', session)).status).toBe(200);
  await context.close();
  site.close();
  site.closeAllConnections();
});

it('two clicks lead from the list to the cause of missing deliveries', async () => {
  const { page, context } = await open();
  expect(await page.textContent('#webhooks')).toMatch(/proposta\.recebida\s*Failing/);
  expect(await page.textContent('#webhooks')).toMatch(/demanda\.finalizada\s*Suspended.*410 Gone/s);
  expect(await page.textContent('#webhooks')).toContain('The latest event was dropped');
  await page.click('#webhooks a:has-text("proposta.recebida")');
  expect(await page.textContent('#deliveries')).toMatch(/4711.*77/s);
  await page.locator('#deliveries td a').first().click();
  await page.waitForURL(/deliveries/);
  expect(await page.textContent('h1')).toContain('your server returned 503');
  expect(await page.textContent('#attempts')).toContain(hostileResponse);
  await context.close();
});

describe('a new user', () => {
  const done = (page: Page, step: number) => page.waitForSelector(`#step-${step} header.done`);

  it('reaches a verified delivery from the link that `npm start` prints', async () => {
    const run = await startSeparateRun();
    const link = await until('the link', async () => /console +(http\S+)/.exec(readFileSync(run.logFile, 'utf8'))?.[1]);
    const { page, base, problems, context } = await openWindow(browser, link);
    await page.click('main a:has-text("First steps")');
    await done(page, 1);
    expect(await page.textContent('#step-1')).toContain('account_id');
    await page.click('#step-2 a:has-text("Register")');
    await page.fill('input[name=url]', 'https://receiver.example.com/hooks');
    await page.click('main button.main');
    const secret = (await page.textContent('.secret-value')) ?? '';
    await done(page, 2);
    const leaving = page.waitForEvent('dialog');
    const click = page.click('button:has-text("Send a test")');
    expect((await leaving).type()).toBe('beforeunload'); // the secret was not copied
    await (await leaving).accept();
    await click;
    await done(page, 4);
    await expectAccessible(page);
    expect(await page.content()).not.toMatch(/eyJ|whsec_/);
    await page.click('a:has-text("Open the delivery")');
    await page.waitForURL(/deliveries/);
    const id = await page.getAttribute('#overview .copy', 'data-copy');
    const deliveries = await fetch(`${run.outputs.ReceiverUrl}/deliveries`);
    const received: ReceivedDelivery[] = JSON.parse(await deliveries.text());
    const { headers = {}, body = '' } = received.find(one => one.headers['webhook-id'] === id) ?? {};
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    expect([base.length > 20, problems]).toEqual([true, []]);
    await context.close();
    await run.stop();
  }, 120_000);

  it('sees a curl command for each step, with placeholders for secrets', async () => {
    const { page, base, context } = await open();
    await page.goto(`${base}/first-steps`);
    for (const command of await page.locator('.steps > li > details pre').allTextContents()) {
      expect(command).toMatch(/^(TOKEN=\$\()?curl -s /);
      expect(command).not.toContain(client.clientSecret);
    }
    await context.close();
  });
});

describe('the bundle', () => {
  it('prints only its address and instructions, and exits with 0 on SIGTERM', async () => {
    const other = await serve();
    const { context } = await openWindow(browser, other.url, {}, { client, user: session.user });
    await context.close();
    expect(await other.stop()).toBe(0);
    expect(other.output()).toBe(`Console: ${other.url}\nOpen this address to sign in. Press Ctrl-C to stop.\n`);
  });

  it.each([
    [['--help'], 0, 'Usage: node emissor-console.mjs'],
    [[], 2, '--auth and --base must be URLs.'],
    [['--auth', 'x', '--base', 'y'], 2, '--auth and --base must be URLs.'],
    [['--auth', 'https://a.b', '--base', 'https://a.b', '--port', '99999'], 2, '--port must be a number'],
    [['--lang', 'pt'], 2, 'Unknown option'],
  ])('with the arguments %j exits with %i', async (args, code, text) => {
    const child = spawn(process.execPath, [file, ...args]);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', part => {
        output += part;
      });
    }
    const [exit] = await once(child, 'close');
    expect([exit, output]).toEqual([code, expect.stringContaining(text)]);
  });
});
