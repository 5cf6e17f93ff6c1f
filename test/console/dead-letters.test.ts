import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { makeOperatorSource } from '../../ops/console/operator-source.ts';
import { type Console, startConsole } from '../../ops/console/server.ts';
import { localTarget } from '../../ops/stage/target.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { publish, sendDeadLetter } from '../support/e2e-queues.ts';
import { outputs } from '../support/e2e-target.ts';
import { expectAccessible, expectShortPaths, openWindow, startBrowser, type Window } from './browser.ts';

const hostile = `<script>document.title='run'</script><img src=x onerror="document.title='run'">`;
const account = `letters-${process.pid}`;
vi.setConfig({ testTimeout: 120_000 }); // a look may have to be repeated
let browser: Browser;
let operator: Console;
let window: Window;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  await operator?.stop();
  const source = makeOperatorSource(localTarget(outputs)); // its look is fresh
  operator = await startConsole(() => source, 0);
  window = await openWindow(browser, operator.makeLink());
});
afterAll(() => operator.stop());

/** Returns what the command line shows: the ids of these letters that are there. */
const left = async (ids: readonly string[]) => {
  const letters = await ops<{ messageId: string }[]>(['dlq', 'list', '--limit', '1000']);
  return letters.map(({ messageId }) => messageId).filter(id => ids.includes(id));
};
const bothThere = (ids: readonly string[]) =>
  until('the letters', async () => ((await left(ids)).length === ids.length ? true : undefined), 20_000, 500);
/** Opens a page of letters that shows something: a look that another reader disturbed stands for half a minute. */
const openWith = (shown: string, letters = '') =>
  until(
    shown,
    async () => {
      await window.page.goto(`${window.folder}/dead-letters${letters}`);
      return (await window.page.$(shown)) === null ? undefined : true;
    },
    60_000,
    1_000,
  );
const openGroups = () =>
  window.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");

it('discards what is ticked, and no other; both are named by what came', async () => {
  const { page, troubles } = window;
  const bad = await publish(account, { event: `pagamento.${hostile}`, id_demanda: 1 });
  const other = await publish(account, { event: 'pagamento.2', id_demanda: 1 });
  await bothThere([bad, other]);
  await openWith('text=event: "pagamento.2"');
  await expectAccessible(page);
  await expectShortPaths(page);
  await openGroups();
  await page.check(`input[value="${bad}"]`);
  await page.click('button:has-text("Discard what is ticked")');
  expect(await page.textContent('main')).toContain(bad);
  await page.click('button.danger:has-text("Discard")');
  await page.waitForSelector('text=Discarded: 1.');
  expect(await left([bad, other])).toEqual([other]);
  expect(troubles).toEqual([]);
});

it('shows a letter with its body, which is audited, and discards it', async () => {
  const { page } = window;
  const id = await publish(account, { event: 'pagamento.3', id_demanda: 33 });
  await bothThere([id]);
  await openWith('h1:text-is("Unknown event: “pagamento.3”")', `/${id}`);
  expect(await page.textContent('main')).toContain('demanda.criada'); // what could have come
  await page.click('button:has-text("Show the body")');
  expect(await page.textContent('main pre')).toContain('"id_demanda":33');
  await expectAccessible(page);
  const records = await ops<{ command: string; target: { messages?: string[] } }[]>(['audit', 'list']);
  expect(records.filter(({ target }) => target.messages?.includes(id)).map(({ command }) => command)).toEqual([
    'dlq show',
  ]);
  await page.click('button:has-text("Discard")');
  await page.click('button.danger:has-text("Discard")');
  await page.waitForSelector('text=Discarded: 1.');
  expect(await left([id])).toEqual([]);
});

it('redrives in the background, shows how far it is, and ends it where that is cancelled', async () => {
  const { page, folder, troubles } = window;
  const body = (id_demanda: number) => JSON.stringify({ id_conta: account, event: 'demanda.criada', id_demanda });
  const ids: string[] = [];
  for (let at = 1; at <= 40; at++) ids.push(await sendDeadLetter(body(at)));
  const group = 'section:has-text("Received too often"):has-text("demanda.criada"):has-text("40 ×")';
  await openWith(group);
  await page.check(`${group} input[name=group]`);
  await page.click('button:has-text("Redrive what is ticked")');
  await page.click('button.main:has-text("Redrive")');
  await page.waitForSelector('text=of 40 moved');
  await expectAccessible(page);
  await page.goto(`${folder}/dead-letters`); // leads to the progress while it holds the letters
  await page.click('button:has-text("Cancel the redrive")');
  await page.waitForSelector('text=The redrive was cancelled.');
  const kept = await until('what is left', async () => {
    const found = await left(ids);
    return found.length > 0 ? found : undefined;
  });
  expect(kept.length).toBeLessThan(40);
  expect((await page.textContent('#redrive')) ?? '').toContain(`${40 - kept.length} of 40 moved`);
  await page.click('text=Show what is left');
  expect(await page.textContent('main')).toContain(`${kept.length} ×`);
  expect(troubles).toEqual([]);
});
