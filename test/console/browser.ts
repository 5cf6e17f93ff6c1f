import { accessSync } from 'node:fs';
import path from 'node:path';
import AxeBuilder from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';

/** Starts the machine's Chromium. `EMISSOR_CHROMIUM` names another one than Debian's. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.EMISSOR_CHROMIUM ?? '/usr/bin/chromium';
  try {
    accessSync(executablePath);
  } catch {
    throw new Error(`There is no ${executablePath}: apt-get install chromium, or name one in EMISSOR_CHROMIUM.`);
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] });
}

/** A window that has opened a console. */
export interface Window {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The address under which the pages are, without a slash at its end. */
  readonly base: string;
  readonly troubles: readonly string[];
}

/** Collects the faults of a page: errors of scripts, violations of the policy, requests to hosts other than its own. */
export function collectTroubles(page: Page, host: string): string[] {
  const troubles: string[] = [];
  page.on('console', message => message.type() === 'error' && troubles.push(message.text()));
  page.on('pageerror', error => troubles.push(error.message));
  page.on('request', request => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.host !== host) troubles.push(`asked ${url.host}`);
  });
  return troubles;
}

/** Opens a console in a context of its own, by a link, or by its form with credentials. */
export async function openWindow(
  browser: Browser,
  link: string,
  options: Parameters<Browser['newContext']>[0] = {},
  credentials?: { readonly client: Client; readonly user: Pick<User, 'email' | 'password'> },
): Promise<Window> {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const troubles = collectTroubles(page, new URL(link).host);
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
  return { context, page, base: page.url().replace(/\/$/, ''), troubles };
}

/** Expects no violation of axe, and no content that overflows the window or its card. */
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

/** Expects a contrast of at least 3:1 for edges of fields and buttons, marks of charts, and badges (WCAG 1.4.11). */
export async function expectContrast(page: Page): Promise<void> {
  expect(await page.evaluate(faintGraphics)).toEqual([]);
}

/** Expects each action (a button that posts, or a link to its question) within ten Tab stops of the start or of a skip link. */
export async function expectShortPaths(page: Page, most = 10): Promise<void> {
  const far = new Set<string>(await page.evaluate(`${actionNames}`));
  const skips = await page.locator('a.skip').count();
  for (let skip = -1; skip < skips; skip++) {
    await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)');
    if (skip >= 0) {
      await page.locator('a.skip').nth(skip).focus();
      await page.keyboard.press('Enter');
    }
    for (let stops = skip + 1; stops < most; stops++) {
      await page.keyboard.press('Tab');
      far.delete(await page.evaluate(`(${nameOfAction})(document.activeElement)`));
    }
  }
  expect([...far]).toEqual([]);
}

const nameOfAction = `element => element.textContent.trim() + ' ' + (element.form?.action ?? element.href)`;
const actionNames = `[...document.querySelectorAll('main form[method=post] button, main a.button')].filter(e => e.checkVisibility()).map(${nameOfAction})`;

/** Lists the graphics with too little contrast, by computed colours. The background is that of the nearest opaque box. */
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
  const judge = (element, what, shown, ground) => {
    if (shown.alpha === 0 || !element.checkVisibility()) return;
    const ratio = contrast(shown, ground);
    if (ratio < 3) faint.push(what + ' ' + ratio.toFixed(2) + ': ' + element.outerHTML.slice(0, 100));
  };
  for (const element of document.querySelectorAll('input:not([type=hidden]):not([type=checkbox]):not([type=radio]), select, textarea, button, .button')) {
    const style = getComputedStyle(element);
    const fill = colour(style.backgroundColor);
    const ground = groundOf(element.parentElement);
    const isFilled = fill.alpha === 1 && contrast(fill, ground) >= 3;
    if (!isFilled && parseFloat(style.borderTopWidth) > 0) judge(element, 'edge', colour(style.borderTopColor), ground);
  }
  for (const element of document.querySelectorAll('svg :is(rect, path, circle, line, polyline, polygon):not(.grid)')) {
    const style = getComputedStyle(element);
    for (const what of ['fill', 'stroke']) {
      if (style[what + 'Opacity'] !== '0' && style.opacity !== '0') judge(element, what, colour(style[what]), groundOf(element.closest('svg')));
    }
  }
  for (const element of document.querySelectorAll('.badge')) judge(element, 'badge', colour(getComputedStyle(element).color), groundOf(element));
  return faint;
})()`;

/** Saves a picture of a page for the docs in the folder `EMISSOR_PICTURES`. A suffix marks a language other than English. */
export async function keepPicture(page: Page, suffix = ''): Promise<void> {
  const folder = process.env.EMISSOR_PICTURES;
  const { pathname, search } = new URL(page.url());
  const size = { 360: 'phone', 768: 'tablet' }[page.viewportSize()?.width ?? 0] ?? 'desktop';
  const [, name] =
    pictures.find(([pattern]) => pattern.test(`${size} ${pathname.replace(/^\/[^/]+/, '')}${search}`)) ?? [];
  if (folder === undefined || name === undefined) return;
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)'); // the check of the keyboard went down the page
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
