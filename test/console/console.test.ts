import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOperatorSource } from '../../ops/console/operator-source.ts';
import { type Console, startConsole } from '../../ops/console/server.ts';
import type { Source } from '../../ops/console/source.ts';
import { localTarget } from '../../ops/stage/target.ts';
import type { Client } from '../../tools/support/accounts.ts';
import { listen } from '../../tools/support/listen.ts';
import { createClient, logIn } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { outputs } from '../support/e2e-target.ts';
import { openSession, register, type Session } from '../support/e2e-webhooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectShortPaths,
  keepPicture,
  openWindow,
  startBrowser,
} from './browser.ts';
import { buildPanel } from './panel.ts';

const hostile = `<script>document.title='run'</script><img src=x onerror="document.title='run'">`;
const panel = buildPanel();
let browser: Browser;
let operator: Console;
let source: Source;
let receiver: Receiver;
let client: Client;
let session: Session;
let account: string;
let failedId: string;
let deliveredId: string;

beforeAll(async () => {
  [browser, receiver] = await Promise.all([startBrowser(), startReceiver('console')]);
  source = makeOperatorSource(localTarget(outputs));
  operator = await startConsole(() => source, 0);
  client = await createClient();
  session = await openSession(client);
  ({ account } = session.user);
  const [taken, refused] = [{ status: 200 }, { status: 500 }];
  receiver.script('/works', taken, taken, refused, taken, taken, taken, refused, refused, taken);
  receiver.script('/fails', { status: 503, body: hostile });
  receiver.script('/gone', { status: 410 });
  await register(session, { evento: 'demanda.criada', url: receiver.url('/works') });
  await register(session, { evento: 'proposta.recebida', url: receiver.url('/fails') });
  await register(session, { evento: 'demanda.finalizada', url: receiver.url('/gone') });
  await register(await openDemoSession(), { evento: 'demanda.criada', url: 'https://receiver.example.com/hooks' });
  await source.operator?.sandbox?.publish('demanda.criada');
  const send = async (event: string, more = {}) =>
    deliveryId(account, event, await publish(account, { event, id_demanda: 1, ...more }));
  for (let sent = 0; sent < 24; sent++) await send('demanda.criada');
  deliveredId = await send('demanda.criada');
  failedId = await send('proposta.recebida', { id_proposta: 2 });
  const heldId = await send('demanda.finalizada');
  await send('demanda.cancelada'); // nobody registered it
  for (const event of ['pagamento.criado', 'pagamento.criado', 'pagamento.estornado'])
    await publish(account, { event });
  await Promise.all([deliveredId, failedId, heldId].map(id => settled(id)));
}, 120_000);
afterAll(async () => {
  await Promise.all([browser.close(), operator.stop(), receiver.stop()]);
  panel.remove();
});

/** Logs in as the demo account's admin: the sandbox is that account's. */
const openDemoSession = async (): Promise<Session> => {
  const {
    ClientId = '',
    ClientSecret = '',
    Username = '',
    Password = '',
    AccountId = '',
  } = localTarget(outputs).outputs;
  const user = { userId: 'demo', email: Username, password: Password, account: AccountId };
  const { access_token } = await logIn({ clientId: ClientId, clientSecret: ClientSecret }, user);
  return { user, token: access_token };
};

const webhook = (event: string) => `/accounts/${account}/webhooks/${event}`;

describe('every page', () => {
  const paths = () => [
    '/',
    `/accounts/${account}`,
    `/accounts/${account}/events`,
    webhook('proposta.recebida'),
    webhook('demanda.criada'),
    `${webhook('proposta.recebida')}?state=falhou`,
    `${webhook('proposta.recebida')}/replay?state=falhou`,
    `${webhook('demanda.criada')}/suspend`,
    `${webhook('proposta.recebida')}/deliveries/${failedId}`,
    '/find',
    `/find?id=${failedId}`,
    '/dead-letters',
    '/sandbox',
    '/first-steps',
  ];

  it.each([
    ['a desktop, light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
    ['a phone, dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'pt-BR' }],
  ] as const)(
    'of an operator passes axe on %s, and asks no other host',
    async (_, options) => {
      const { page, folder: base, troubles, context } = await openWindow(browser, operator.makeLink(), options);
      for (const path of paths()) {
        const answer = await page.goto(base + path);
        expect([path, answer?.status()]).toEqual([path, 200]);
        expect((await answer?.body())?.length).toBeLessThan(100_000);
        await expectAccessible(page);
        await expectContrast(page);
        await expectShortPaths(page);
        await keepPicture(page);
      }
      expect(troubles).toEqual([]);
      await context.close();
    },
    120_000,
  );

  it('of an integrator passes axe too, without script as with it', async () => {
    const running = panel.start(client, session.user);
    for (const javaScriptEnabled of [true, false]) {
      const window = await openWindow(browser, await running.link(), { javaScriptEnabled });
      const { page, folder: base, troubles, context } = window;
      const own = [
        '/',
        webhook('proposta.recebida'),
        `${webhook('proposta.recebida')}/deliveries/${failedId}`,
        '/find',
        `/accounts/${account}/webhooks/new`,
        ...['settings', 'rotate', 'remove'].map(step => `${webhook('demanda.criada')}/${step}`),
      ];
      for (const path of own) {
        expect((await page.goto(base + path))?.status()).toBe(200);
        if (!javaScriptEnabled) continue;
        await expectAccessible(page);
        await expectShortPaths(page);
      }
      expect(troubles).toEqual([]);
      await context.close();
    }
    expect(await running.stop()).toBe(0);
  }, 120_000);

  it('works without script: an operator logs in, filters and resends', async () => {
    const {
      page,
      folder: base,
      context,
    } = await openWindow(browser, operator.makeLink(), { javaScriptEnabled: false });
    await page.goto(base + webhook('demanda.criada'));
    await page.click('.chip:has-text("Delivered")');
    expect(new URL(page.url()).searchParams.get('state')).toBe('entregue');
    await page.click(`text=${deliveredId}`);
    await page.click('button:has-text("Send again")');
    await page.waitForSelector('text=It is sent now, or on its way.');
    await context.close();
  });
});

describe('the pages where an operator begins', () => {
  let page: Page;
  let base: string;
  beforeAll(async () => {
    ({ page, folder: base } = await openWindow(browser, operator.makeLink()));
  });
  const textOf = async (selector: string) => (await page.textContent(selector)) ?? '';

  it('say what needs somebody, as `ops status` does, each with a page that has it', async () => {
    await page.goto(`${base}/`);
    const { problems } = await ops<{ problems: readonly string[] }>(['status']);
    expect(await page.locator('#needs li').count()).toBe(problems.length);
    for (const link of await page.locator('#needs a').all()) {
      const [path = '', card] = (await link.getAttribute('href'))?.split('#') ?? [];
      if (card === undefined) expect((await page.request.get(new URL(path, base).href)).status()).toBe(200);
      else expect(await page.locator(`#${card}`).count()).toBe(1);
    }
    expect(await textOf('#alarms')).toContain('A local run has no alarms.');
    expect(await textOf('#undelivered')).toContain(account);
    await expectAccessible(page);
  });

  it('count what became of deliveries on the local run', async () => {
    await until('the counts', async () => {
      await page.goto(`${base}/`);
      const figures = await page.locator('#traffic .figure').allTextContents();
      return (figures.length === 3 && figures.every(figure => Number(figure) > 0)) || undefined;
    });
  });

  it('list the events of an account in lines, with the way to what can be done', async () => {
    await page.goto(`${base}/accounts/${account}`);
    expect(await textOf('#webhooks')).toMatch(/proposta\.recebida\s*Failing/);
    expect(await textOf('#webhooks')).toMatch(/demanda\.finalizada\s*Suspended.*410 Gone/s);
    await page.click('nav.tabs >> text=Events');
    await until('the refused event', async () => {
      await page.reload();
      return (await textOf('main')).includes('There is no such event') || undefined;
    });
    await expectAccessible(page);
    await page.click('nav.chips >> text=Failed');
    expect(await page.locator('main tbody tr').count()).toBe(1);
    await page.click('td:not(.more) summary');
    await page.click('text=Open the delivery');
    expect(page.url()).toBe(`${base}/accounts/${account}/webhooks/proposta.recebida/deliveries/${failedId}`);
    await page.goto(`${base}/accounts/${account}/events?fate=no+webhook`);
    expect(await textOf('main')).toMatch(/demanda\.cancelada\s*No webhook\s*The account had no webhook/);
  });
});

describe('a site on another port of this machine', () => {
  it('gets no cookie, reads no page and changes nothing', async () => {
    const { context, page, folder: base } = await openWindow(browser, operator.makeLink());
    const seen: IncomingHttpHeaders[] = [];
    const target = `${base}${webhook('demanda.criada')}/suspend`;
    const site = createServer((request, response) => {
      seen.push(request.headers);
      response.setHeader('content-type', 'text/html');
      response.end(`<form method="post" action="${target}"><button>x</button></form><script>
        fetch('${base}/', { credentials: 'include' }).then(a => a.text()).then(t => { document.title = 'read ' + t.length }, () => { document.title = 'refused' });
      </script>`);
    });
    const other = await context.newPage();
    await other.goto(`http://127.0.0.1:${await listen(site)}/`);
    await other.waitForFunction("document.title === 'refused'");
    await other.click('button');
    expect(await other.textContent('main')).toContain('another site');
    expect(seen.every(({ cookie }) => cookie === undefined)).toBe(true);
    await page.goto(base + webhook('demanda.criada'));
    expect(await page.textContent('h1')).toContain('Healthy');
    await context.close();
    site.close();
    site.closeAllConnections();
  });
});

describe('"nothing since yesterday" is answered in three clicks', () => {
  it('for an operator who knows the account', async () => {
    const { page, folder: base, context } = await openWindow(browser, operator.makeLink());
    const openAccount = async () => {
      await page.goto(`${base}/`);
      await page.fill('input[name=account]', account);
      await page.click('button:has-text("Open")');
    };
    await openAccount(); // failing: one
    await page.click('text=proposta.recebida'); // two
    await page.click(`text=${failedId}`); // three
    expect(await page.textContent('#timeline')).toContain('refused, answered 503');
    await openAccount(); // no webhook: the events tell
    await page.click(`text=Events that came`);
    expect(await page.textContent('main')).toMatch(/demanda\.cancelada\s*No webhook/);
    await openAccount(); // suspended, and why
    expect(await page.textContent('#webhooks')).toMatch(/demanda\.finalizada\s*Suspended suspenso.*410 Gone/s);
    await page.click('text=demanda.finalizada');
    expect(await page.textContent('#deliveries')).toContain('retida'); // held
    await openAccount(); // delivered after all
    await page.click('text=demanda.criada');
    expect(await page.textContent('#deliveries')).toContain('entregue');
    await context.close();
  });
});
