import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Console } from '../../ops/console/server.ts';
import type { Client } from '../../tools/support/accounts.ts';
import { listen } from '../../tools/support/listen.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { deliveryId, publish } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { callApi, openSession, register, type Session } from '../support/e2e-webhooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectShortPaths,
  keepPicture,
  openWindow,
  startBrowser,
} from './browser.ts';
import { buildPanel, startPages } from './panel.ts';

const hostile = `<script>document.title='run'</script><img src=x onerror="document.title='run'">`;
const panel = buildPanel();
let browser: Browser;
let pages: Console;
let receiver: Receiver;
let client: Client;
let session: Session;
let failedId: string;
let deliveredId: string;

beforeAll(async () => {
  [browser, receiver] = await Promise.all([startBrowser(), startReceiver('console')]);
  client = await createClient();
  session = await openSession(client);
  pages = await startPages(client, session.user);
  const { account } = session.user;
  const [taken, refused] = [{ status: 200 }, { status: 500 }];
  receiver.script('/works', taken, taken, refused, taken, taken, taken, refused, refused, taken);
  receiver.script('/fails', { status: 503, body: hostile });
  receiver.script('/gone', { status: 410 });
  await register(session, { evento: 'demanda.criada', url: receiver.url('/works') });
  await register(session, { evento: 'proposta.recebida', url: receiver.url('/fails') });
  await register(session, { evento: 'demanda.finalizada', url: receiver.url('/gone') });
  const send = async (event: string, more = {}) =>
    deliveryId(account, event, await publish(account, { event, id_demanda: 1, ...more }));
  for (let sent = 0; sent < 24; sent++) await send('demanda.criada');
  deliveredId = await send('demanda.criada');
  failedId = await send('proposta.recebida', { id_proposta: 2 });
  const heldId = await send('demanda.finalizada');
  await send('demanda.cancelada'); // nobody registered it
  await Promise.all([deliveredId, failedId, heldId].map(id => settled(id)));
}, 120_000);
afterAll(async () => {
  await Promise.all([browser.close(), pages.stop(), receiver.stop()]);
  panel.remove();
});

const webhook = (event: string) => `/webhooks/${event}`;

describe('every page', () => {
  const paths = () => [
    '/',
    webhook('proposta.recebida'),
    webhook('demanda.criada'),
    `${webhook('proposta.recebida')}?state=falhou`,
    `${webhook('proposta.recebida')}/replay?state=falhou`,
    `${webhook('proposta.recebida')}/deliveries/${failedId}`,
    '/find',
    `/find?id=${failedId}`,
    '/first-steps',
    webhook('new'),
    ...['settings', 'rotate', 'remove'].map(step => `${webhook('demanda.criada')}/${step}`),
  ];

  it.each([
    ['a desktop, light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
    ['a phone, dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'pt-BR' }],
  ] as const)(
    'passes axe on %s, and asks no other host',
    async (_, options) => {
      const { page, folder: base, troubles, context } = await openWindow(browser, pages.makeLink(), options);
      for (const path of paths()) {
        const answer = await page.goto(base + path);
        expect([path, answer?.status()]).toEqual([path, 200]);
        expect((await answer?.body())?.length).toBeLessThan(100_000);
        await expectAccessible(page);
        await expectContrast(page);
        await keepPicture(page);
        await expectShortPaths(page);
      }
      expect(troubles).toEqual([]);
      await context.close();
    },
    120_000,
  );

  it('works without script, in the one file of integrators: it is opened, filtered and resends', async () => {
    const running = panel.start(client, session.user);
    const window = await openWindow(browser, await running.link(), { javaScriptEnabled: false });
    const { page, folder: base, troubles, context } = window;
    for (const path of paths()) expect((await page.goto(base + path))?.status()).toBe(200);
    await page.goto(base + webhook('demanda.criada'));
    await page.click('.chip:has-text("Delivered")');
    expect(new URL(page.url()).searchParams.get('state')).toBe('entregue');
    await page.click(`text=${deliveredId}`);
    await page.click('button:has-text("Send again")');
    await page.waitForSelector('text=It is sent now, or on its way.');
    expect(troubles).toEqual([]);
    await context.close();
    expect(await running.stop()).toBe(0);
  }, 120_000);
});

describe('a site on another port of this machine', () => {
  it('gets no cookie, reads no page and changes nothing', async () => {
    const { context, folder: base } = await openWindow(browser, pages.makeLink());
    const seen: IncomingHttpHeaders[] = [];
    const target = `${base}${webhook('demanda.criada')}/remove`;
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
    expect((await callApi('GET', '/v1/webhooks/demanda.criada', session)).status).toBe(200);
    await context.close();
    site.close();
    site.closeAllConnections();
  });
});

it('"nothing since yesterday" is answered in three clicks', async () => {
  const { page, folder: base, context } = await openWindow(browser, pages.makeLink());
  const open = () => page.goto(`${base}/`);
  await open();
  expect(await page.textContent('#webhooks')).toMatch(/proposta\.recebida\s*Failing/);
  await page.click('text=proposta.recebida');
  await page.click(`text=${failedId}`);
  expect(await page.textContent('#timeline')).toContain('refused, answered 503');
  await open(); // no webhook
  expect(await page.textContent('#without li >> nth=0')).toMatch(/demanda\.cancelada\s*last came/);
  // suspended, and why
  expect(await page.textContent('#webhooks')).toMatch(/demanda\.finalizada\s*Suspended suspenso.*410 Gone/s);
  await page.click('text=demanda.finalizada');
  expect(await page.textContent('#deliveries')).toContain('retida'); // held
  await open(); // delivered after all
  await page.click('text=demanda.criada');
  expect(await page.textContent('#deliveries')).toContain('entregue');
  await context.close();
});
