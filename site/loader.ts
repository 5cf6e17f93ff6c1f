import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Loader } from 'astro/loaders';
import { addressOf, pairs, parts } from './pages.ts';

const root = path.join(process.cwd(), '..');

/** The URL of the repository, for links to files that are not on the site. Without it, pages name these files without a link. */
const repository = process.env.EMISSOR_REPOSITORY;

const firstParagraph = /^[\p{L}`*[].*?(?=\n\n)/msu;

/** Loads the repository's Markdown files as pages. The first heading becomes the title, and the first paragraph the description. */
export const pagesLoader: Loader = {
  name: 'pages',
  async load({ config, store, parseData, renderMarkdown }) {
    store.clear();
    let order = 0;
    for (const [file, id] of addresses()) {
      const text = readFileSync(path.join(root, file), 'utf8');
      const [, title = '', body = ''] = /^# (.+?)\n(.*)$/s.exec(text) ?? [];
      const data = {
        title: title.replaceAll('`', ''),
        description: firstParagraph
          .exec(body.replaceAll(/^```.*?^```$/gms, ''))?.[0]
          .replaceAll(/\]\([^)]*\)|[[*`]/g, ''),
        sidebar: { order: order++ },
        tableOfContents: id.includes('/') && undefined,
      };
      const rendered = await renderMarkdown(withAddresses(body, file, config.base), {
        fileURL: pathToFileURL(path.join(root, file)),
      });
      store.set({ id, body, rendered, data: await parseData({ id, data }) });
    }
  },
};

/** Maps the source file of each page to the address of the page. */
function addresses(): Map<string, string> {
  const bilingualPages = pairs.flatMap(([pt, en]) => [
    [`docs/pt/${pt}.md`, addressOf('pt', pt)] as const,
    [`docs/en/${en}.md`, addressOf('en', en)] as const,
  ]);
  const englishPages = Object.entries(parts).flatMap(([part, files]) =>
    files.flatMap(pagesIn).map(file => {
      const name = path.basename(file.replace('/README.md', ''), '.md').toLowerCase();
      return [file, `en/${part}/${name}`] as const;
    }),
  );
  return new Map([...bilingualPages, ...englishPages]);
}

function pagesIn(page: string): string[] {
  const file = path.posix.join('docs', page);
  if (!file.endsWith('/')) return [`${file}.md`];
  const names = readdirSync(path.join(root, file)).filter(name => /^\d.*\.md$/.test(name));
  return names.sort().map(name => `${file}${name}`);
}

/** Replaces the relative links on a page with links to pages of the site, to other files of the site, or to the repository. */
function withAddresses(text: string, from: string, base: string): string {
  const pages = addresses();
  const withLinks = (prose: string) =>
    prose.replaceAll(/\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]+)?\)/g, (_, label, target, anchor = '') => {
      const file = path.posix.join(path.posix.dirname(from), target);
      const address = pages.get(file === 'README.md' ? 'docs/en/overview.md' : file.replace(/\/$/, '/README.md'));
      if (address !== undefined) return `[${label}](${base}${address}/${anchor})`;
      if (file.startsWith('docs/') && !file.endsWith('/')) return `[${label}](${base}${file.slice('docs/'.length)})`;
      return repository === undefined ? label : `[${label}](${repository}/${file}${anchor})`;
    });
  return text
    .split(/(^```.*?^```$)/ms)
    .map((part, at) => (at % 2 === 0 ? withLinks(part) : part))
    .join('');
}
