import { createHash } from 'node:crypto';
import { existsSync, globSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageUrl } from '../../lib/value-schemas.ts';
import { addressOf, audienceOf, counterpartOf, pairs } from '../../site/pages.ts';
import { readPage } from '../support/markdown-page.ts';
import { url } from './address.ts';
import { addresses, dist, read } from './built.ts';

const pages = addresses().filter(address => !['/', '/404.html'].includes(address));

describe.each(pages)('%s', address => {
  const page = read(address);

  it('links to existing pages, files and headings', () => {
    const targets = [...page.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
    const ownLinks = targets
      .map(link => new URL(link, url + address))
      .filter(({ origin }) => origin === new URL(url).origin);
    expect(ownLinks.map(String).filter(link => !exists(link))).toEqual([]);
  });

  it('has at most 150 kB, unique IDs, and a Content Security Policy for only its own scripts', () => {
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(150_000);
    const ids = [...page.matchAll(/<[^>]*\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const inline = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs)];
    const hashes = inline.map(([, script = '']) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    const [, policy = ''] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    expect(policy.split('; ')).toEqual([
      ...["default-src 'none'", "base-uri 'none'", "form-action 'none'", "connect-src 'self'", "img-src 'self' data:"],
      `script-src 'self' 'wasm-unsafe-eval'${[...new Set(hashes)].join('')}`,
      "style-src 'self' 'unsafe-inline'",
    ]);
  });

  it('links to a page in the other language', () => {
    const id = address.slice(1, -1);
    const { language, address: other } = counterpartOf(id);
    expect(page).toMatch(new RegExp(`<a href="/emissor/${other}/" lang="[^"]*" hreflang`));
    expect(read(`/${other}/`)).toContain(`<html lang="${language === 'pt' ? 'pt-BR' : 'en'}"`);
    expect(page).toContain(`<html lang="${id.startsWith('pt') ? 'pt-BR' : 'en'}"`);
    const alternates = [...page.matchAll(/<link rel="alternate" hreflang="[^"]*" href="([^"]*)"/g)];
    const isInBoth = counterpartOf(other).address === id;
    expect(alternates.map(([, href]) => href)).toEqual(isInBoth ? [`${url}/${other}/`] : []);
  });
});

it('each page outside the reference has a unique description', () => {
  const written = pages.filter(address => !address.startsWith('/en/reference/'));
  const descriptions = written.map(
    address => /<meta name="description" content="([^"<>[\]`*]+)"/.exec(read(address))?.[1],
  );
  expect(written.filter((_, at) => descriptions[at] === undefined)).toEqual([]);
  expect(new Set(descriptions).size).toBe(written.length);
});

it('/ redirects to the front page in Portuguese', () => {
  expect(read('/')).toContain('content="0;url=/emissor/pt/"');
});

it('the 404 page links to both front pages', () => {
  const [, text = ''] = /<main.*?>(.*?)<\/main>/s.exec(read('/404.html')) ?? [];
  const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => String(new URL(link, url)));
  expect(links).toEqual([`${url}/en/`, `${url}/pt/`]);
  expect(links.filter(link => !exists(link))).toEqual([]);
});

const inBoth = pairs.flatMap(([pt, en]) => [addressOf('pt', pt), addressOf('en', en)]);
it.each(inBoth)('%s links to the other language only in the language switch', address => {
  const links = [...read(`/${address}/`).matchAll(/<a href="\/emissor\/([^"#]*)\/["#]/g)].map(([, id = '']) => id);
  const others = links.filter(id => inBoth.includes(id) && id.slice(0, 2) !== address.slice(0, 2));
  expect(new Set(others)).toEqual(new Set([counterpartOf(address).address]));
});

it('pages in Portuguese have no English labels', () => {
  const labelsOf = (address: string) =>
    [...read(address).matchAll(/\s(?:aria-label|title|data-copied|data-translations)="([^"]+)"/g)].map(
      ([, label]) => label,
    );
  const english = new Set(pages.filter(page => page.startsWith('/en/')).flatMap(labelsOf));
  const portuguese = new Set(pages.filter(page => page.startsWith('/pt/')).flatMap(labelsOf));
  expect(portuguese.size).toBeGreaterThanOrEqual(5);
  expect([...portuguese].filter(label => english.has(label))).toEqual([]);
});

const linksIn = (sidebar: string) =>
  [...sidebar.matchAll(/<a href="\/emissor([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(([, address = '', label = '']) => ({
    address,
    label: label.replaceAll(/<[^>]+>/g, '').trim(),
  }));
const sidebarOf = (address: string) => linksIn(/<nav class="sidebar.*?<\/nav>/s.exec(read(address))?.[0] ?? '');
const isForTeam = (address: string) => audienceOf(address) === 'team';

it.each(['/pt/', '/pt/erros/', '/en/', '/en/errors/', '/en/reference/auth/'])(
  '%s lists each reference page once, and has one link for the team',
  address => {
    const listed = sidebarOf(address).map(link => link.address);
    const reference = pages.filter(page => page.startsWith('/en/reference/') && !page.includes('/tags/'));
    expect(listed.filter(each => each.startsWith('/en/reference/')).sort()).toEqual(reference);
    expect(listed.filter(isForTeam)).toEqual(['/en/operators/runbook/']);
  },
);

it('pages in Portuguese list the reference with Portuguese labels', () => {
  const labelsOf = (address: string) =>
    sidebarOf(address).flatMap(link => (link.address.startsWith('/en/reference/') ? [link.label] : []));
  const english = new Set(labelsOf('/en/'));
  expect(labelsOf('/pt/').filter(label => english.has(label))).toEqual([]);
});

it.each(['/en/publishers/publishing/', '/en/operators/runbook/', '/en/developers/adr/'])(
  '%s lists the pages for the team, and has one link for integrators',
  address => {
    const listed = sidebarOf(address).map(link => link.address);
    expect(listed.filter(isForTeam)).toEqual(expect.arrayContaining(pages.filter(isForTeam)));
    expect(listed.filter(each => /^\/en\/(?!publ|oper|dev)/.test(each))).toEqual(['/en/integrators/']);
  },
);

it.each(pairs)('the Portuguese page %s and the English page %s are counterparts, and exist once', (pt, en) => {
  const [portuguese, english] = [addressOf('pt', pt), addressOf('en', en)];
  expect(counterpartOf(portuguese)).toEqual({ language: 'en', address: english });
  expect(counterpartOf(english)).toEqual({ language: 'pt', address: portuguese });
  expect(pages).toEqual(expect.arrayContaining([`/${portuguese}/`, `/${english}/`]));
  expect(pages.filter(page => page === `/en/${portuguese.slice(3)}/` && pt !== en)).toEqual([]);
});

it.each(['pt/erros', 'en/errors'])('%s has a heading for each error code', page => {
  const codes = readPage(`docs/${page}.md`).headings.filter(({ text }) => /^[a-z_]+$/.test(text));
  expect(codes.length).toBeGreaterThan(30);
  expect(codes.filter(({ text }) => !exists(`${url}/${page}/#${text}`))).toEqual([]);
});

it('the site has the page that operators set as docsUrl', () => {
  const [, docsUrl] =
    /^docsUrl: '(.*)',$/m.exec(
      readPage('docs/site.md')
        .blocks.map(({ text }) => text)
        .join('\n'),
    ) ?? [];
  expect(exists(`${pageUrl.parse(docsUrl)}#webhook_exists`)).toBe(true);
});

it('the site installs at most 250 MB of dependencies', () => {
  const modules = path.join(dist, '../node_modules');
  const bytes = globSync('**/*', { cwd: modules }).map(file => lstatSync(path.join(modules, file)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250_000_000);
});

function exists(link: string): boolean {
  if (!link.startsWith(`${url}/`)) return false;
  const { pathname, hash } = new URL(link.slice(url.length), url);
  const file = path.join(dist, decodeURIComponent(pathname), pathname.endsWith('/') ? 'index.html' : '');
  if (!existsSync(file)) return false;
  return hash === '' || read(decodeURIComponent(pathname)).includes(` id="${decodeURIComponent(hash.slice(1))}"`);
}
