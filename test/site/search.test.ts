import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '../console/browser.ts';
import { type Page as Markdown, readPage } from '../support/markdown-page.ts';
import { serve } from './built.ts';

/** What people type into the search, and the first heading that it shows. */
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;
let page: Page;
beforeAll(async () => {
  [browser, site] = await Promise.all([startBrowser(), serve()]);
  page = await browser.newPage();
  page.setDefaultTimeout(10_000);
});
afterAll(async () => {
  await browser.close();
  site.stop();
});

/** Opens the search of a language. */
async function openSearch(language: string): Promise<void> {
  await page.goto(`${site.url}/${language}/`);
  await page.click('button[data-open-modal]');
  await page.waitForSelector('.pagefind-ui__search-input');
}

/** Types a query, and returns the address of the first section that is shown, or of the first page. */
async function firstHit(query: string): Promise<string> {
  await page.fill('.pagefind-ui__search-input', query);
  await page.locator('.pagefind-ui__message', { hasText: ` ${query}` }).waitFor({ timeout: 10_000 });
  const first = page.locator('.pagefind-ui__result').first();
  await first.locator('.pagefind-ui__result-link').first().waitFor();
  const nested = first.locator('.pagefind-ui__result-nested .pagefind-ui__result-link').first();
  const link = (await nested.count()) > 0 ? nested : first.locator('.pagefind-ui__result-link').first();
  const { pathname, hash } = new URL((await link.getAttribute('href')) ?? '', site.url);
  return decodeURIComponent(pathname + hash).replace('#_top', '');
}

const codes = ({ headings }: Markdown) => headings.filter(({ text }) => /^[a-z_]+([.][a-z_]+)?$/.test(text));
const states = ({ tables }: Markdown) =>
  tables
    .filter(({ heading }) => /^(Webhook|Entrega|Delivery|Reenvio em lote|Replay)$/.test(heading))
    .flatMap(({ heading, rows }) => rows.map(([cell = '']) => ({ heading, state: cell.replaceAll('`', '') })));

describe.each([
  ['pt', 'erros', 'eventos', 'entregas'],
  ['en', 'errors', 'events', 'deliveries'],
])('in %s', (language, errors, events, deliveries) => {
  beforeAll(() => openSearch(language));

  it.each([errors, events])('leads each code of %s to its heading', { timeout: 120_000 }, async name => {
    const expected = codes(readPage(`docs/${language}/${name}.md`)).map(({ text, anchor }) => [
      text,
      `/${language}/${name}/#${anchor}`,
    ]);
    expect(expected.length).toBeGreaterThanOrEqual(8);
    const found: string[][] = [];
    for (const [code = ''] of expected) found.push([code, await firstHit(code)]);
    expect(found).toEqual(expected);
  });

  it('leads each state to where it is explained', { timeout: 60_000 }, async () => {
    const page = readPage(`docs/${language}/${deliveries}.md`);
    const expected = states(page).map(({ state, heading }) => [
      state,
      `/${language}/${deliveries}/#${page.headings.find(({ text, level }) => text === heading && level === 3)?.anchor}`,
    ]);
    const found: string[][] = [];
    for (const [state = ''] of expected) found.push([state, await firstHit(state)]);
    expect(found).toEqual(expected);
  });
});

describe('what people ask', () => {
  it.each([
    ['nada chegou', '/pt/nada-chegou/'],
    ['assinatura inválida', '/pt/nada-chegou/#assinatura-inválida'],
    ['assinatura invalida', '/pt/nada-chegou/#assinatura-inválida'],
    ['trocar o segredo', '/pt/webhooks/#trocar-o-segredo'],
    ['token expirado', '/pt/tokens/#renovar-o-token'],
    ['webhook suspenso', '/pt/nada-chegou/#webhook-suspenso'],
    ['reenviar tudo', '/pt/entregas/#reenviar-em-lote'],
    ['endereço privado', '/pt/nada-chegou/#as-tentativas-falham'],
    ['endereco privado', '/pt/nada-chegou/#as-tentativas-falham'],
    ['limite de tentativas', '/pt/entregas/#tentativas-e-prazos'],
    ['certificado', '/pt/nada-chegou/#as-tentativas-falham'],
    ['testar sem produção', '/pt/inicio-rapido/#o-que-é-preciso'],
    ['testar sem producao', '/pt/inicio-rapido/#o-que-é-preciso'],
    ['nothing arrived', '/en/nothing-arrived/'],
    ['invalid signature', '/en/nothing-arrived/#invalid-signature'],
    ['rotate secret', '/en/webhooks/#replace-the-secret'],
    ['429', '/en/errors/#rate_limited'],
  ])('%s leads to %s', async (query, address) => {
    await openSearch(address.slice(1, 3));
    expect(await firstHit(query)).toBe(address);
  });
});
