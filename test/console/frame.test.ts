import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../ops/console/api-source.ts';
import { html } from '../../ops/console/html.ts';
import { card, documentOf, type Page, table } from '../../ops/console/page.ts';
import { type Console, startConsole } from '../../ops/console/server.ts';
import { type AccountView, Refusal, type WebhookView } from '../../ops/console/views.ts';
import { aContext, aSource } from '../unit/ops/console/a-source.ts';
import { openWindow, startBrowser, type Window } from './browser.ts';

/** What all pages do alike, with a source in memory whose pages renew themselves all the time. */
let browser: Browser;
let running: Console;
let source: Source;
let window: Window;
const often = { refreshSeconds: 0.2 };
const webhook = '/webhooks/demanda.criada';

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  source = aSource(often);
  running = await startConsole(() => source, 0);
  window = await openWindow(browser, running.makeLink());
});
afterEach(async () => {
  await window.context.close();
  await running.stop();
});

const open = (path: string) => window.page.goto(window.folder + path);
const seenAgain = `document.dispatchEvent(new Event('visibilitychange'))`; // as a browser tells a page that is not hidden any more
const focused = () => window.page.evaluate<string>('document.activeElement.textContent');
const dies = (why: string): Source => {
  const fails = () => Promise.reject(new Error(why));
  return aSource({ ...often, readAccount: fails, findWebhook: fails });
};
/** Returns what the first page reads: webhooks like the one of the source, but for changes. */
const accountOf = async (...changes: Partial<WebhookView>[]) => {
  const { webhooks } = await aSource().readAccount();
  return { webhooks: changes.flatMap(change => webhooks.map(one => ({ ...one, ...change }))), withoutWebhook: [] };
};

describe('a page that renews itself', () => {
  it('keeps what is typed', async () => {
    const { page } = window;
    await open(webhook);
    await page.click('summary:has-text("Custom")');
    await page.fill('input[name=since]', '2026-11-22T10:00');
    const before = await page.textContent('#renewed');
    await expect.poll(() => page.textContent('#renewed')).not.toBe(before);
    expect(await page.inputValue('input[name=since]')).toBe('2026-11-22T10:00');
  });

  it('renews its title and each card', async () => {
    const { page } = window;
    let text = 'one';
    await page.route('**/cards', route => {
      const content = html`<h1>${text}</h1>${card('a', text)}${card('b', text, { id: 'b' })}${card('c', html`<div data-live id="c">${text}</div>`)}`;
      return route.fulfill({
        contentType: 'text/html',
        body: documentOf({ title: 'x', content }, aContext(source, '/')),
      });
    });
    await open('/cards');
    text = 'two';
    await expect.poll(() => page.locator('main :text("two")').count()).toBe(4);
    expect(await page.locator('main :text("one")').count()).toBe(0);
  });

  it('says of a card in which somebody is at work when it was read, until it is renewed', async () => {
    const { page } = window;
    await open('/');
    await page.focus('#webhooks td a');
    source = aSource({ ...often, readAccount: () => accountOf({ event: 'proposta.recebida' }) });
    await page.waitForSelector('#webhooks .stale');
    expect(await page.textContent('#webhooks .stale')).toMatch(/^Still as read at \d\d:\d\d:\d\d /);
    expect(await page.textContent('#webhooks')).toContain('demanda.criada');
    await page.evaluate('document.activeElement.blur()');
    await page.waitForSelector('#webhooks td a:has-text("proposta.recebida")');
    expect(await page.locator('.stale').count()).toBe(0);
  });

  it('says at its top that nothing answers, of when it is and why, and recovers by itself', async () => {
    const { page } = window;
    await open('/');
    source = dies('api.example.com does not answer.');
    await page.waitForSelector('#banner:visible');
    expect(await page.textContent('#banner')).toMatch(
      /^Could not be read anew\..* was read at \d\d:\d\d:\d\d .*\(api.example.com does not answer.\)$/,
    );
    expect(await page.textContent('#webhooks')).toContain('demanda.criada');
    source = aSource(often);
    await page.waitForSelector('#banner', { state: 'hidden' });
  });

  it('comes back from an error by itself', async () => {
    source = dies('It does not answer');
    await open(`${webhook}#content`);
    expect(await window.page.textContent('main')).toContain('It does not answer');
    source = aSource(often);
    await window.page.waitForSelector('#webhook');
  });

  it('comes back from an error to a page without a card', async () => {
    let page: Page = { title: 'x', content: html`<h1>It could not be read</h1><p>Why not.</p>`, hasFailed: true };
    await window.page.route('**/question', route =>
      route.fulfill({ contentType: 'text/html', body: documentOf(page, aContext(source, '/')) }),
    );
    await open('/question');
    page = { title: 'x', content: html`<h1>Suspend?</h1><p>It means this.</p>` };
    await window.page.waitForSelector('text=It means this.');
    expect(await window.page.textContent('main')).not.toContain('Why not.');
  });

  it('shows a card that was not there before', async () => {
    source = aSource({ ...often, latestDeliveries: async () => ({ deliveries: [], next: null, timed: [] }) });
    await open(`${webhook}#list`);
    expect(await window.page.locator('#speed').count()).toBe(0);
    source = aSource(often);
    await window.page.waitForSelector('#speed');
  });

  // Bug: a tab that was not seen for long showed old data as those of now for up to a minute.
  it('is renewed at once when it is seen again, and says until then when it was read', async () => {
    const { page } = window;
    source = aSource({ refreshSeconds: 60 });
    await open('/');
    const { promise, resolve } = Promise.withResolvers<AccountView>();
    source = aSource({ readAccount: () => promise });
    await page.evaluate(seenAgain);
    await page.waitForSelector('#banner:visible');
    expect(await page.textContent('#banner')).toMatch(/^Still as read at \d\d:\d\d:\d\d /);
    resolve(await accountOf({ event: 'proposta.recebida' }));
    await page.waitForSelector('#webhooks td a:has-text("proposta.recebida")');
    expect(await page.isVisible('#banner')).toBe(false);
  });

  it('says that the console was started anew', async () => {
    const port = Number(new URL(running.url).port);
    await open('/');
    await running.stop();
    running = await startConsole(() => source, port);
    await window.page.waitForSelector('#banner:has-text("it was started anew")');
  });

  it('is left as it is where nothing has changed but the marks of its forms', async () => {
    const { page } = window;
    await open(webhook);
    await page.evaluate(`document.querySelector('#actions form').wasSeen = true`);
    const before = await page.textContent('#renewed');
    await expect.poll(() => page.textContent('#renewed')).not.toBe(before);
    expect(await page.evaluate(`document.querySelector('#actions form').wasSeen`)).toBe(true);
  });

  it('shows nothing any more after a sign-out in another window', async () => {
    await open('/#content');
    const other = await window.context.newPage();
    await other.goto(`${window.folder}/`);
    await other.click('text=Sign out');
    await other.waitForSelector('#entry');
    await window.page.waitForSelector('#entry');
    expect(await window.page.textContent('main')).toContain('signed out');
  });
});

describe('a page that does not renew itself', () => {
  it('is left when the session has ended: a secret does not stay on a desk', async () => {
    const { page } = window;
    await page.clock.install();
    const other = await window.context.newPage();
    await other.goto(`${window.folder}/`);
    await open(`${webhook}/rotate`);
    await page.click('button.main');
    await page.waitForSelector('code.secret');
    await page.evaluate("location.hash = 'content'"); // as the skip link does
    const asked = page.waitForResponse(answer => answer.request().method() === 'HEAD');
    await page.clock.fastForward(61_000);
    expect((await asked).status()).toBe(200);
    expect(await page.locator('code.secret').count()).toBe(1);
    await other.click('text=Sign out');
    await other.waitForSelector('#entry');
    await page.evaluate(seenAgain); // a minute has not passed
    await page.waitForSelector('#entry');
  });

  // Bug: it asked for the session each minute, and took it for alive where the console had ended or was started anew.
  it.each([
    ['a minute after the console was started anew', true],
    ['an hour after it was loaded where nothing answers', false],
  ])('is left %s', async (_, isStartedAnew) => {
    const { page } = window;
    await page.clock.install();
    await open(`${webhook}/rotate`);
    await page.click('button.main');
    await page.waitForSelector('code.secret');
    await page.evaluate(
      `new MutationObserver(() => document.body || console.log('blank')).observe(document.documentElement, { childList: true })`,
    );
    if (isStartedAnew) {
      const port = Number(new URL(running.url).port);
      await running.stop();
      running = await startConsole(() => source, port);
    } else {
      // A process that was halted takes the connection: the browser waits, and shows what it showed.
      await page.route('**/rotate', route => route.request().method() === 'HEAD' && route.abort());
      const asks = () => page.waitForEvent('requestfailed', request => request.method() === 'HEAD');
      for (let minute = 0; minute < 2; minute++) await Promise.all([asks(), page.clock.fastForward(61_000)]);
    }
    expect(await page.locator('code.secret').count()).toBe(1);
    const isBlank = page.waitForEvent('console', message => message.text() === 'blank');
    await page.clock.fastForward(isStartedAnew ? 61_000 : 3_600_000);
    await isBlank;
    if (isStartedAnew) expect(await page.textContent('main')).toContain('it was started anew');
  });
});

describe('the focus', () => {
  it('goes to what an action did, and to why not', async () => {
    const { page } = window;
    await open(webhook);
    await page.click('button:has-text("Send a test")');
    await page.waitForSelector('.note');
    expect(await focused()).toBe('The test is on its way.');
    source = aSource({ ...often, test: () => Promise.reject(new Refusal('it is suspended')) });
    await open(webhook);
    await page.click('button:has-text("Send a test")');
    await page.waitForSelector('.note.trouble');
    expect(await focused()).toBe('it is suspended');
  });

  it('goes to the search by a slash, which can be typed all the same', async () => {
    const { page } = window;
    for (const path of ['/', webhook, '/find']) {
      await open(path);
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.type('/evt_1/');
      expect(await page.inputValue('input[type=search]')).toBe('evt_1/');
    }
  });
});

describe('the looks', () => {
  it('keep names, ids and times on one line, however long the texts beside them are', async () => {
    const url = `https://receiver.example.com/${'long-'.repeat(400)}`;
    source = aSource({ readAccount: () => accountOf({ url, reason: 'gone' }) });
    for (const width of [1_280, 800]) {
      await window.page.setViewportSize({ width, height: 900 });
      await open('/');
      const lines = await window.page.$$eval('td a, td time small, td .badge', all =>
        all.map(one => one.getBoundingClientRect().height),
      );
      expect(Math.max(...lines)).toBeLessThan(30);
      expect(await window.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
  });

  it('give a row one line on a phone where the table says so, and the rest by a tap', async () => {
    const { page } = window;
    await page.setViewportSize({ width: 360, height: 740 });
    const columns = ['state', 'time', 'result', 'why', 'id'].map((heading, at) => ({
      heading,
      value: () => `${heading} text`,
      isBrief: at < 3,
    }));
    const content = table(columns, [1, 2], '');
    await page.goto('about:blank');
    await page.setContent(documentOf({ title: 'x', content, isLive: false }, aContext(source, '/')));
    const heights = () => page.$$eval('tbody tr', rows => rows.map(row => row.getBoundingClientRect().height));
    for (const height of await heights()) expect(height).toBeLessThan(60);
    expect(await page.isVisible('text=why text')).toBe(false);
    await page.click('summary >> nth=0');
    expect(await page.isVisible('text=why text >> nth=0')).toBe(true);
    expect((await heights())[1]).toBeLessThan(60);
  });

  it('print no navigation, filters and buttons', async () => {
    await open(webhook);
    await window.page.emulateMedia({ media: 'print' });
    for (const part of ['nav', '.tools', 'form.row', 'main button', 'main .button'])
      expect([part, await window.page.locator(`${part}:visible`).count()]).toEqual([part, 0]);
    expect(await window.page.isVisible('#deliveries table')).toBe(true);
  });

  it('underline only the current place with forced colours', async () => {
    await window.page.emulateMedia({ forcedColors: 'active' });
    await open('/find');
    const edges = await window.page.evaluate<boolean[]>(
      `[...document.querySelectorAll('nav.places a')].map(place => getComputedStyle(place).borderBottomColor !== getComputedStyle(document.body).backgroundColor)`,
    );
    expect(edges.filter(isSeen => isSeen)).toHaveLength(1);
  });
});
