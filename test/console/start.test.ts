import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeOperatorSource } from '../../ops/console/operator-source.ts';
import { type Console, startConsole } from '../../ops/console/server.ts';
import { localTarget } from '../../ops/stage/target.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, publish } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { outputs } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';
import { expectAccessible, openWindow, startBrowser } from './browser.ts';

let browser: Browser;
let receiver: Receiver;
let operator: Console;
let page: Page;
let base: string;
let account: string;
let failedId: string;

beforeAll(async () => {
  [browser, receiver] = await Promise.all([startBrowser(), startReceiver('start')]);
  operator = await startConsole(() => makeOperatorSource(localTarget(outputs)), 0);
  const session = await openSession(await createClient());
  ({ account } = session.user);
  receiver.script('/works', { status: 200 });
  receiver.script('/fails', { status: 503 });
  receiver.script('/gone', { status: 410 });
  await register(session, { evento: 'demanda.criada', url: receiver.url('/works') });
  await register(session, { evento: 'proposta.recebida', url: receiver.url('/fails') });
  await register(session, { evento: 'demanda.finalizada', url: receiver.url('/gone') });
  const send = async (event: string, more = {}) =>
    deliveryId(account, event, await publish(account, { event, id_demanda: 1, ...more }));
  const deliveredId = await send('demanda.criada');
  failedId = await send('proposta.recebida', { id_proposta: 2 });
  const heldId = await send('demanda.finalizada');
  await send('demanda.cancelada'); // nobody registered it
  await publish(account, { event: 'nothing.like.it', id_conta: account, id_demanda: 1 });
  await Promise.all([deliveredId, failedId, heldId].map(id => settled(id)));
  ({ page, folder: base } = await openWindow(browser, operator.makeLink()));
}, 120_000);
afterAll(async () => {
  await Promise.all([browser.close(), operator.stop(), receiver.stop()]);
});

const textOf = async (selector: string) => (await page.textContent(selector)) ?? '';

it('says what needs somebody, as `ops status` does, each with a page that has it', async () => {
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

it('counts what became of deliveries on the local run', async () => {
  await until('the counts', async () => {
    await page.goto(`${base}/`);
    const figures = await page.locator('#traffic .figure').allTextContents();
    return (figures.length === 3 && figures.every(figure => Number(figure) > 0)) || undefined;
  });
});

it('says of a table that cannot be read that it could not, and not that all is well', async () => {
  const source = makeOperatorSource(localTarget({ ...outputs, DeliveriesTable: 'NoSuchTable' }));
  const console = await startConsole(() => source, 0);
  const window = await openWindow(browser, console.makeLink());
  const main = (await window.page.textContent('main')) ?? '';
  expect(await window.page.textContent('#undelivered')).toContain('Could not be read');
  expect(await window.page.textContent('#troubled')).toContain('Could not be read');
  expect(await window.page.textContent('#queues')).not.toContain('Could not be read');
  expect(main).toContain('Parts that could not be read: 1.');
  expect(main).not.toContain('Nothing needs you.');
  expect(main).not.toContain('No delivery has failed');
  await window.context.close();
  await console.stop();
});

it('lists the events of an account in lines, with the way to what can be done', async () => {
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
