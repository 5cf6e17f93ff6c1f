import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Console } from '../../ops/console/server.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { callApi, openSession, register, type Session } from '../support/e2e-webhooks.ts';
import { expectAccessible, openWindow, startBrowser, type Window } from './browser.ts';
import { startPages } from './panel.ts';

const [delivered, held] = [7, 80];
let browser: Browser;
let receiver: Receiver;
let pages: Console;
let session: Session;
let account: string;
let failedId: string;

beforeAll(async () => {
  [browser, receiver] = await Promise.all([startBrowser(), startReceiver('webhook-page')]);
  const client = await createClient();
  session = await openSession(client);
  ({ account } = session.user);
  pages = await startPages(client, session.user);
  receiver.script('/fails', { status: 503, body: 'busy' });
  for (const path of ['/gone', '/gone-too']) receiver.script(path, { status: 410 }, { status: 200 });
  await register(session, { evento: 'demanda.criada', url: receiver.url('/works') });
  await register(session, { evento: 'proposta.recebida', url: receiver.url('/fails') });
  await register(session, { evento: 'demanda.finalizada', url: receiver.url('/gone') });
  await register(session, { evento: 'demanda.cancelada', url: receiver.url('/gone-too') });
  const send = async (event: string, more = {}) =>
    deliveryId(account, event, await publish(account, { event, id_demanda: 1, ...more }));
  // They suspend their webhooks: the others are held.
  for (const event of ['demanda.finalizada', 'demanda.cancelada']) await settled(await send(event));
  const ids = await Promise.all([
    ...Array.from({ length: delivered }, () => send('demanda.criada')),
    ...Array.from({ length: held - 1 }, () => send('demanda.finalizada')),
  ]);
  failedId = await send('proposta.recebida', { id_proposta: 2 });
  await Promise.all([failedId, ...ids].map(id => settled(id)));
}, 180_000);
afterAll(() => Promise.all([browser.close(), pages.stop(), receiver.stop()]));

const path = (event: string) => `/webhooks/${event}`;
const rows = (page: Page) => page.locator('#deliveries tbody tr').count();

const open = async (at: string, options = {}): Promise<Window> => {
  const window = await openWindow(browser, pages.makeLink(), options);
  expect((await window.page.goto(window.folder + at))?.status()).toBe(200);
  return window;
};

describe('the chart', () => {
  it('leads from a bar to its deliveries', async () => {
    const { page, context, troubles } = await open(path('demanda.criada'));
    expect(await page.textContent('.legend')).toMatch(new RegExp(`Delivered ${delivered}\\s+Waiting.* 0\\s+Failed 0`));
    const bar = page.locator('svg.chart a:has(.entregue)').last();
    expect(await bar.locator('title').textContent()).toContain('Delivered: ');
    await bar.click();
    await page.waitForURL(/since=.*#list$/);
    const { searchParams } = new URL(page.url());
    const [desde, ate] = ['since', 'until'].map(name => new Date(searchParams.get(name) ?? '').toISOString());
    const range = `desde=${desde}&ate=${ate}`;
    const { json } = await callApi('GET', `/v1/webhooks/demanda.criada/entregas?${range}`, session);
    expect(json?.entregas).toHaveLength(await rows(page));
    await page.click('summary:has-text("as a table")');
    await expectAccessible(page);
    expect(await page.locator('table.plain tbody tr').count()).toBeGreaterThan(0);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe('the filter', () => {
  it('is chips, and a time typed in the zone of this machine', async () => {
    const { page, context } = await open(path('demanda.finalizada'));
    await page.click('.chip:has-text("Delivered")');
    expect(await page.textContent('#deliveries')).toContain('No delivery matches.');
    await page.click('.chip:has-text("Held")');
    await page.click('.chip:has-text("1 h")');
    expect(page.url()).toContain('?state=retida&range=1h');
    expect(await rows(page)).toBe(20);
    await page.click('a:has-text("Older")');
    await page.waitForURL(/cursor=/);
    expect(await rows(page)).toBe(20);
    await page.click('summary:has-text("Custom")');
    await page.fill('input[name=until]', '2026-01-01T00:00');
    await page.click('button:has-text("Show")');
    expect(await page.textContent('#deliveries')).toContain('No delivery matches.');
    await page.click('.chip:has-text("Clear")');
    expect(await rows(page)).toBe(20);
    await expectAccessible(page);
    await context.close();
  });

  it('is reached by the keyboard, and so is what sends all again', async () => {
    const { page, context } = await open(`${path('proposta.recebida')}?state=falhou`);
    const stops: string[] = [];
    for (let stop = 0; stop < 10 && !stops.at(-1)?.startsWith('Send all'); stop++) {
      await page.keyboard.press('Tab');
      stops.push(String(await page.evaluate('document.activeElement.textContent')));
      if (stops.at(-1)?.startsWith('Skip')) await page.keyboard.press('Enter');
    }
    expect(stops.at(-1)).toBe('Send all of these again');
    await context.close();
  });
});

describe('a replay', () => {
  it('shows how far it is, and is cancelled', async () => {
    const { page, context } = await open(path('demanda.finalizada'));
    await page.click('button:has-text("Reactivate")');
    await page.waitForSelector('text=The webhook is active again.');
    await page.click('.chip:has-text("Held")');
    await page.click('text=Send all of these again');
    expect(await page.textContent('.asked')).toContain(`Deliveries that match: ${held}`);
    await page.click('button:has-text("Send again")');
    await page.waitForSelector('#replay:has-text("A replay is under way")');
    expect(page.url()).toContain('state=retida');
    await until('its progress', async () => {
      const [, sent = 0] = /(\d+) sent again/.exec((await page.textContent('#replay')) ?? '') ?? [];
      return Number(sent) > 0 || undefined; // all, if a sweep has come between: it is under way until the next
    });
    await expectAccessible(page);
    await page.click('button:has-text("Cancel the replay")');
    await page.waitForSelector('#replay:has-text("The replay was cancelled")');
    const id = new URL(page.url()).searchParams.get('replay');
    const { json } = await callApi('GET', `/v1/webhooks/demanda.finalizada/reenvios/${id}`, session);
    expect(json).toMatchObject({ estado: 'cancelado' });
    expect(await page.textContent('#replay')).toContain(`${json?.enviadas} sent again`);
    await context.close();
  }, 60_000);

  it('does the same in Portuguese', async () => {
    const { page, context } = await open(path('demanda.cancelada'), { locale: 'pt-BR' });
    await page.click('button:has-text("Reativar")');
    await page.click('.chip:has-text("Retida")');
    await page.click('text=Reenviar todas estas');
    await page.click('button:has-text("Reenviar")');
    await page.waitForSelector('#replay:has-text("Um reenvio está em andamento")');
    await page.click('button:has-text("Cancelar o reenvio")');
    await page.waitForSelector('#replay:has-text("O reenvio foi cancelado")');
    await context.close();
  }, 60_000);
});

describe('what would be refused', () => {
  it('has no button: the webhook that an operator suspended', async () => {
    const change = (verb: string) =>
      ops(['webhooks', verb, '--account', account, '--event', 'proposta.recebida', '--yes']);
    await change('suspend');
    const { page, context } = await open(path('proposta.recebida'));
    expect(await page.textContent('#webhook')).toContain('ask support');
    expect(await page.locator('#actions button').count()).toBe(0);
    const { status, json } = await callApi('POST', '/v1/webhooks/proposta.recebida/reativacao', session);
    expect([status, json?.code]).toEqual([409, 'suspended_by_operator']);
    await change('reactivate');
    await page.reload();
    await page.click('button:has-text("Send a test")');
    await page.waitForURL(/\/deliveries\/teste_/);
    await context.close();
  });
});

describe('a delivery', () => {
  it.each([
    ['a desktop', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
    ['a phone', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'pt-BR' }],
  ] as const)('on %s says what came of it, and how it would be sent now', async (_, options) => {
    const at = `${path('proposta.recebida')}/deliveries/${failedId}`;
    const { page, context, troubles } = await open(at, options);
    const { json } = await callApi('GET', `/v1/webhooks/proposta.recebida/entregas/${failedId}`, session);
    expect(await page.textContent('main')).toContain(json?.corpo);
    const [first] = receiver.received('/fails');
    for (const name of Object.keys(first?.headers ?? {})) {
      if (['host', 'connection', 'content-length'].includes(name)) continue;
      expect(await page.textContent('.request')).toContain(`${name}: `);
    }
    await expectAccessible(page);
    for (const summary of await page.locator('main summary').all()) await summary.click();
    await expectAccessible(page);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
