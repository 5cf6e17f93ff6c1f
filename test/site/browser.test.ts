import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectProblems, expectAccessible, saveScreenshot, startBrowser } from '../console/browser.ts';
import { addresses, serve } from './built.ts';

let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  [browser, site] = await Promise.all([startBrowser(), serve()]);
});
afterAll(async () => {
  await browser.close();
  site.stop();
});

const overflowOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

async function openWindow(options: Parameters<Browser['newContext']>[0]) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  return { context, page, problems: collectProblems(page, new URL(site.url).host) };
}

it('the site shows each page without errors, overflow, or requests to other hosts', {
  timeout: 120_000,
}, async () => {
  const { context, page, problems } = await openWindow({ viewport: { width: 360, height: 740 } });
  for (const address of addresses().filter(each => !['/', '/404.html'].includes(each))) {
    await page.goto(site.url + address);
    if ((await overflowOf(page)) > 0) problems.push(`${address} overflows`);
  }
  expect(problems).toEqual([]);
  await context.close();
});

it.each(['/pt/', '/en/'])('the front page %s fits on one screen', async address => {
  const { context, page } = await openWindow({ viewport: { width: 1280, height: 800 } });
  await page.goto(site.url + address);
  const { y, height } = (await page.locator('main .sl-markdown-content').boundingBox()) ?? { y: 0, height: 0 };
  expect(height).toBeGreaterThan(500);
  expect(y + height).toBeLessThanOrEqual(800);
  await context.close();
});

const kinds = [
  '/404.html',
  '/pt/',
  '/pt/nada-chegou/',
  '/pt/erros/#webhook_exists',
  '/en/operators/runbook/',
  '/en/reference/webhooks/',
  '/en/reference/webhooks/operations/registerwebhook/',
  '/en/reference/webhooks/webhooks/deliver/',
];
const displays = [
  { viewport: { width: 360, height: 800 }, colorScheme: 'dark' },
  { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
] as const;

describe.each(displays)('the site in a $colorScheme window of $viewport.width px', display => {
  it('is accessible', { timeout: 120_000 }, async () => {
    const { context, page, problems } = await openWindow(display);
    for (const address of kinds) {
      await page.goto(site.url + address);
      await saveScreenshot(page);
      await expectAccessible(page);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is readable and navigable without JavaScript', async () => {
    const { context, page, problems } = await openWindow({ ...display, javaScriptEnabled: false });
    for (const address of kinds) {
      await page.goto(site.url + address);
      expect(await page.locator('main .sl-markdown-content:visible, main .tagline:visible').count()).toBe(1);
      expect(await page.locator('site-search:visible, starlight-theme-select:visible').count()).toBe(0);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    }
    if (display.viewport.width < 800) await page.click('.sl-menu-button');
    await page.click('a[hreflang="pt-BR"]:visible');
    expect(page.url()).toBe(`${site.url}/pt/`);
    expect(problems).toEqual([]);
    await context.close();
  });
});
