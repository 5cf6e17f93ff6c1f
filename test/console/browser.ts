import { accessSync } from 'node:fs';
import path from 'node:path';
import AxeBuilder from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

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
  /** The folder under which the pages lie, without a slash at its end. */
  readonly folder: string;
  /** The faults in it: errors of scripts, violations of the policy, requests to other hosts. */
  readonly troubles: readonly string[];
}

/** Opens a console by a link, in a context of its own. */
export async function openWindow(
  browser: Browser,
  link: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Window> {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('console', message => message.type() === 'error' && troubles.push(message.text()));
  page.on('pageerror', error => troubles.push(error.message));
  page.on('dialog', dialog => {
    troubles.push(`dialog ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  const { host } = new URL(link);
  page.on('request', request => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.host !== host) troubles.push(`asked ${url.host}`);
  });
  await page.goto(link);
  if (options?.javaScriptEnabled === false) {
    await page.fill('input[name=token]', link.split('#')[1] ?? '');
    await page.click('button');
  }
  await page.waitForURL(url => url.pathname.length > 10);
  return { context, page, folder: page.url().replace(/\/$/, ''), troubles };
}

/** Fails where axe finds a violation, or something sticks out of the window. */
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
}

/**
 * Keeps a picture of a page in the folder that `EMISSOR_PICTURES` names, for the docs: of a desktop that is light, of a phone that
 * is dark.
 */
export async function keepPicture(page: Page): Promise<void> {
  const folder = process.env.EMISSOR_PICTURES;
  const { pathname, search } = new URL(page.url());
  const name = pictures.find(([pattern]) => pattern.test(pathname.replace(/^\/[^/]+/, '') + search))?.[1];
  const isPhone = (page.viewportSize()?.width ?? 0) < 500;
  const isDark = await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches');
  if (folder === undefined || name === undefined || isPhone !== isDark) return;
  await page.screenshot({ path: path.join(folder, `${name}-${isPhone ? 'phone' : 'desktop'}.png`) });
}

const pictures: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\/$/, 'start'],
  [/^\/accounts\/[^/]+$/, 'account'],
  [/^\/accounts\/[^/]+\/webhooks\/[^/?]+$/, 'webhook'],
  [/\/deliveries\/[^/]+$/, 'delivery'],
  [/^\/dead-letters$/, 'dead-letters'],
  [/^\/find\?/, 'find'],
  [/^\/sandbox$/, 'sandbox'],
];
