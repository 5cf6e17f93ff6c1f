import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audienceOf } from '../../site/pages.ts';
import { startBrowser } from '../console/browser.ts';
import { type Page as Markdown, readPage } from '../support/markdown-page.ts';
import { serve } from './built.ts';

let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;
let page: Page;
beforeAll(async () => {
  [browser, site] = await Promise.all([startBrowser(), serve()]);
  page = await browser.newPage();
});
afterAll(async () => {
  await browser.close();
  site.stop();
});

/** Opens the search in a language unless it is open. Runs a first query to load the search options. */
async function openSearch(language: string): Promise<void> {
  if (page.url() === `${site.url}/${language}/`) return;
  await page.goto(`${site.url}/${language}/`);
  await page.click('button[data-open-modal]');
  await firstLink('webhook');
}

/** Types a query, and returns the address of the first link. */
async function firstLink(query: string): Promise<string> {
  await page.fill('.pagefind-ui__search-input', query);
  await page.locator('.pagefind-ui__message', { hasText: ` ${query}` }).waitFor();
  const link = page.locator('.pagefind-ui__result-link').first();
  return addressIn((await link.getAttribute('href')) ?? '');
}

/** Returns the first result for each query. Calls Pagefind instead of typing the query. */
async function firstResults(queries: string[]): Promise<string[][]> {
  const results = await page.evaluate<string[]>(`(async () => {
    const { search } = await import('${site.url}/pagefind/pagefind.js');
    const addressOf = async query => (await (await search(query)).results[0]?.data())?.meta.url ?? '';
    return Promise.all(${JSON.stringify(queries)}.map(addressOf));
  })()`);
  return results.map((address, at) => [queries[at] ?? '', addressIn(address)]);
}

function addressIn(link: string): string {
  return decodeURIComponent(new URL(link, site.url).href).replace(site.url, '').replace('#_top', '');
}

const codes = ({ headings }: Markdown) => headings.filter(({ text }) => /^[a-z_]+([.][a-z_]+)?$/.test(text));
const states = ({ tables }: Markdown) =>
  tables
    .filter(({ heading }) => /^(Webhook|Entrega|Delivery|Reenvio em lote|Replay)$/.test(heading))
    .flatMap(({ heading, rows }) => rows.map(([cell = '']) => ({ heading, state: cell.replaceAll('`', '') })));

describe.each([
  ['pt', 'erros', 'eventos', 'entregas'],
  ['en', 'errors', 'events', 'deliveries'],
])('the search in %s', (language, errors, events, deliveries) => {
  beforeAll(() => openSearch(language));

  it.each([errors, events])('finds the heading for each code in %s first', async name => {
    const expected = codes(readPage(`docs/${language}/${name}.md`)).map(({ text, anchor }) => [
      text,
      `/${language}/${name}/#${anchor}`,
    ]);
    expect(expected.length).toBeGreaterThanOrEqual(8);
    expect(await firstResults(expected.map(([code = '']) => code))).toEqual(expected);
  });

  it('finds the explanation of each state first', async () => {
    const page = readPage(`docs/${language}/${deliveries}.md`);
    const expected = states(page).map(({ state, heading }) => [
      state,
      `/${language}/${deliveries}/#${page.headings.find(({ text, level }) => text === heading && level === 3)?.anchor}`,
    ]);
    expect(expected.length).toBe(10);
    expect(await firstResults(expected.map(([state = '']) => state))).toEqual(expected);
  });
});

describe('a query', () => {
  it.each([
    ['pt', 'resultados para'],
    ['en', 'results for'],
  ])('shows the number of results in %s', async (language, words) => {
    await openSearch(language);
    await firstLink('webhook');
    expect(await page.textContent('.pagefind-ui__message')).toMatch(new RegExp(`^\\d+ ${words} webhook$`));
  });

  it.each([
    ['nada chegou', '/pt/nada-chegou/'],
    ['assinatura inválida', '/pt/nada-chegou/#assinatura-inválida'],
    ['assinatura invalida', '/pt/nada-chegou/#assinatura-inválida'],
    ['trocar o segredo', '/pt/webhooks/#trocar-o-segredo'],
    ['token expirado', '/pt/tokens/#renovar-o-token'],
    ['webhook suspenso', '/pt/nada-chegou/#webhook-suspenso'],
    ['reenviar tudo', '/pt/entregas/#reenviar-em-lote'],
    ['endereço privado', '/pt/webhooks/#regras-da-url'],
    ['endereco privado', '/pt/webhooks/#regras-da-url'],
    ['limite de tentativas', '/pt/entregas/#tentativas-e-prazos'],
    ['certificado', '/pt/nada-chegou/#as-tentativas-falham'],
    ['testar sem produção', '/pt/inicio-rapido/#o-que-é-preciso'],
    ['testar sem producao', '/pt/inicio-rapido/#o-que-é-preciso'],
    ['nothing arrived', '/en/nothing-arrived/'],
    ['invalid signature', '/en/nothing-arrived/#invalid-signature'],
    ['rotate secret', '/en/webhooks/#rotate-the-secret'],
    ['429', '/en/errors/#rate_limited'],
    ['public keys', '/en/tokens/#public-documents'], // not the operation with that name in the reference
    ['retry schedule', '/en/deliveries/#attempts-and-waits'],
  ])('for %s finds %s first', async (query, address) => {
    await openSearch(address.slice(1, 3));
    expect(await firstLink(query)).toBe(address);
    expect(await firstResults([query])).toEqual([[query, address]]);
  });
});

/** Returns the addresses of all search results on a page. */
async function resultsOn(address: string, query: string): Promise<string[]> {
  await page.goto(site.url + address);
  const results = await page.evaluate<string[]>(`(async () => {
    const { search } = await import('${site.url}/pagefind/pagefind.js');
    const hits = await Promise.all((await search('${query}')).results.map(result => result.data()));
    return hits.map(({ meta }) => meta.url);
  })()`);
  return results.map(addressIn);
}

const isForTeam = (address: string) => audienceOf(address) === 'team';

it.each([
  [false, ['/en/', '/en/errors/', '/en/reference/webhooks/']],
  [true, ['/en/publishers/publishing/', '/en/operators/runbook/', '/en/developers/adr/']],
])('the search finds only pages for the audience of the current page (team: %s)', async (forTeam, addresses) => {
  for (const address of addresses) {
    const results = await resultsOn(address, 'delivery');
    expect(results.length).toBeGreaterThan(10);
    expect(results.filter(hit => isForTeam(hit) !== forTeam)).toEqual([]);
  }
});
