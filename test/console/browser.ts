import { accessSync } from 'node:fs';
import path from 'node:path';
import AxeBuilder from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';

/** Starts Debian's Chromium, or the browser at the path in `EMISSOR_CHROMIUM`. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.EMISSOR_CHROMIUM ?? '/usr/bin/chromium';
  try {
    accessSync(executablePath);
  } catch {
    throw new Error(`Could not find ${executablePath}. Run apt-get install chromium, or set EMISSOR_CHROMIUM.`);
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] });
}

/** A browser window with an open console. */
export interface Window {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The base URL of the pages, without a trailing slash. */
  readonly base: string;
  readonly problems: readonly string[];
}

/** Collects a page's script errors, policy violations and requests to other hosts. */
export function collectProblems(page: Page, host: string): string[] {
  const problems: string[] = [];
  page.on('console', message => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', error => problems.push(error.message));
  page.on('request', request => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.host !== host) problems.push(`sent a request to ${url.host}`);
  });
  return problems;
}

/** Opens a console in a new browser context. Signs in with the link, or with credentials in the form. */
export async function openWindow(
  browser: Browser,
  link: string,
  options: Parameters<Browser['newContext']>[0] = {},
  credentials?: { readonly client: Client; readonly user: Pick<User, 'email' | 'password'> },
): Promise<Window> {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const problems = collectProblems(page, new URL(link).host);
  await page.goto(link);
  if (credentials) {
    if (options.javaScriptEnabled !== false) await expectAccessible(page);
    const { client, user } = credentials;
    await page.fill('[name=client_id]', client.clientId);
    await page.fill('[name=client_secret]', client.clientSecret);
    await page.fill('[name=username]', user.email);
    await page.fill('[name=password]', user.password);
    await page.click('form[action$="/sign-in"] button');
  }
  await page.waitForURL(url => url.pathname.length > 10);
  return { context, page, base: page.url().replace(/\/$/, ''), problems };
}

/** Asserts that axe finds no violations and that no content overflows the window or its card. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AxeBuilder.source);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
  expect(violations).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await page.evaluate(cutCards)).toEqual([]);
}

const cutCards = `[...document.querySelectorAll('.card')].filter(card => card.scrollWidth > card.clientWidth).map(card => card.id || card.textContent.slice(0, 40))`;

/** Asserts a contrast of at least 3:1 for field and button edges, chart marks, and badges (WCAG 1.4.11). */
export async function expectContrast(page: Page): Promise<void> {
  expect(await page.evaluate(faintGraphics)).toEqual([]);
}

/** Asserts that each action button is at most `maxStops` Tab stops from the start of the page or from a skip link. */
export async function expectReachableByKeyboard(page: Page, maxStops = 10): Promise<void> {
  const unreached = new Set<string>(await page.evaluate(`${actionNames}`));
  const skips = await page.locator('a.skip').count();
  for (let skip = -1; skip < skips; skip++) {
    await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)');
    if (skip >= 0) {
      await page.locator('a.skip').nth(skip).focus();
      await page.keyboard.press('Enter');
    }
    for (let stops = skip + 1; stops < maxStops; stops++) {
      await page.keyboard.press('Tab');
      unreached.delete(await page.evaluate(`(${nameOfAction})(document.activeElement)`));
    }
  }
  expect([...unreached]).toEqual([]);
}

const nameOfAction = `element => element.textContent.trim() + ' ' + (element.form?.action ?? element.href)`;
const actionNames = `[...document.querySelectorAll('main form[method=post] button, main a.button')].filter(e => e.checkVisibility()).map(${nameOfAction})`;

/** Lists the graphics with a low contrast against the nearest opaque background. */
const faintGraphics = `(() => {
  const colour = text => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\\d.]+/g) ?? []).map(Number);
    return { parts: [red, green, blue], alpha: text === 'none' || text === 'transparent' ? 0 : alpha };
  };
  const luminance = ({ parts }) => {
    const [red, green, blue] = parts.map(part => part / 255).map(part => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const groundOf = element => {
    for (let box = element; box; box = box.parentElement) {
      const ground = colour(getComputedStyle(box).backgroundColor);
      if (ground.alpha === 1) return ground;
    }
    return colour('rgb(255, 255, 255)');
  };
  const faint = [];
  const check = (element, what, shown, ground) => {
    if (shown.alpha === 0 || !element.checkVisibility()) return;
    const ratio = contrast(shown, ground);
    if (ratio < 3) faint.push(what + ' ' + ratio.toFixed(2) + ': ' + element.outerHTML.slice(0, 100));
  };
  for (const element of document.querySelectorAll('input:not([type=hidden]):not([type=checkbox]):not([type=radio]), select, textarea, button, .button')) {
    const style = getComputedStyle(element);
    const fill = colour(style.backgroundColor);
    const ground = groundOf(element.parentElement);
    const isFilled = fill.alpha === 1 && contrast(fill, ground) >= 3;
    if (!isFilled && parseFloat(style.borderTopWidth) > 0) check(element, 'edge', colour(style.borderTopColor), ground);
  }
  for (const element of document.querySelectorAll('svg :is(rect, path, circle, line, polyline, polygon):not(.grid)')) {
    const style = getComputedStyle(element);
    for (const what of ['fill', 'stroke']) {
      if (style[what + 'Opacity'] !== '0' && style.opacity !== '0') check(element, what, colour(style[what]), groundOf(element.closest('svg')));
    }
  }
  for (const element of document.querySelectorAll('.badge')) check(element, 'badge', colour(getComputedStyle(element).color), groundOf(element));
  return faint;
})()`;

/** Saves a screenshot for the docs to the folder in `EMISSOR_PICTURES`. The suffix marks a language other than English. */
export async function saveScreenshot(page: Page, suffix = ''): Promise<void> {
  const folder = process.env.EMISSOR_PICTURES;
  const { pathname, search } = new URL(page.url());
  const size = { 360: 'phone', 768: 'tablet' }[page.viewportSize()?.width ?? 0] ?? 'desktop';
  const [, name] =
    pictures.find(([pattern]) => pattern.test(`${size} ${pathname.replace(/^\/[^/]+/, '')}${search}`)) ?? [];
  if (folder === undefined || name === undefined) return;
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)'); // the keyboard check scrolled the page
  await page.screenshot({ path: path.join(folder, `${name}-${size}${suffix}.png`) });
}

const pictures: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^desktop \/$/, 'webhooks'],
  [/^(desktop|phone) \/webhooks\/proposta\.recebida$/, 'webhook'],
  [/^desktop .*\/deliveries\/[^/]+$/, 'delivery'],
  [/^desktop \/first-steps$/, 'first-steps'],
  [/^desktop \/pt\/$/, 'site-front'],
  [/^desktop .*\/operations\/registerwebhook\/$/, 'site-reference'],
];
