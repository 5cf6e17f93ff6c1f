import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { inlineCode, readPage, sectionOf } from '../support/markdown-page.ts';

const root = path.join(import.meta.dirname, '../..');
const pages = globSync(['*.md', '{console,docs,lab,lambdas,ops}/**/*.md', 'packages/*/*.md'], { cwd: root });

const folders = '{bin,console,docs,lab,lambdas,lib,lint,ops,packages,stages,test,tools}/';
const moduleNames = new Set(globSync(['*.ts', `${folders}**/*.ts`], { cwd: root }).map(file => path.basename(file)));

it.each(pages)('%s mentions only files that exist', page => {
  const text = readFileSync(path.join(root, page), 'utf8');
  const paths = text.matchAll(/`((?:bin|docs|lab|lambdas|lib|lint|ops|packages|stages|test|tools)\/[\w./-]*\w)\/?`/g);
  const missing = [...paths]
    .map(([, file = '']) => file)
    .filter(file => !/NNNN|NAME/.test(file) && !existsSync(path.join(root, file)));
  expect(missing).toEqual([]);
  const modules = [...text.matchAll(/`([\w.-]+\.ts)`/g)].map(([, name = '']) => name);
  expect(modules.filter(name => !moduleNames.has(name))).toEqual([]);
});

const tree = sectionOf(readPage('docs/architecture.md'), 'Repository layout');

it.each([
  ...globSync(folders, { cwd: root }),
  ...globSync('{lab,lambdas,lambdas/{auth,delivery,platform},lib,ops,packages,test,tools}/*/', { cwd: root }),
])('%s is in the folder tree on the architecture page', folder => {
  const names = inlineCode(tree).map(name => name.replace(/\/$/, ''));
  expect(names.filter(name => name === folder || name.startsWith(`${folder}/`))).not.toEqual([]);
});

it.each(globSync('{lambdas/*,lambdas/delivery/*,ops,console,packages/cloud,lab/world}/', { cwd: root }))(
  '%s has a README with at most 10 lines',
  folder => void expect(readPage(`${folder}/README.md`).lines.length - 1).toBeLessThanOrEqual(10),
);

it.each(pages)('%s links only to files and headings that exist', page => {
  const broken = readPage(page).links.filter(link => !/^(https?|mailto):/.test(link) && !targetExists(link, page));
  expect(broken).toEqual([]);
});

it.each(pages)('%s sets the stage in each command that reads its file, and overrides only gradual', page => {
  const text = readFileSync(path.join(root, page), 'utf8');
  const commands = text.match(/npx cdk (?:bootstrap|deploy|destroy|diff|rollback|synth) [^`\n]+|preflight -- [^`\n]+/g);
  expect(commands?.filter(command => !/ (?:-c stage=|--stage )\w/.test(command)) ?? []).toEqual([]);
  expect(text.match(/-c (?!(stage|gradual|release)=)[a-z]\w*=/g) ?? []).toEqual([]); // a stage with customers rejects other keys
});

it('the runbook runs smoke tests only with --stage', () => {
  expect(readPage('docs/runbook.md').lines.filter(line => /npm run smoke(?! -- --stage)/.test(line))).toEqual([]);
});

const sitePages = globSync('docs/{pt,en}/*.md', { cwd: root });

it.each(sitePages)('%s is plain Markdown, with anchors that are the same in every site generator', page => {
  const { lines, links, headings } = readPage(page);
  const prose = lines
    .join('\n')
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`]*`/g, '');
  expect(prose).not.toMatch(/<\/?[a-z]|[{}]/i); // HTML, or placeholders of a template engine
  expect(links.filter(link => /^\//.test(link))).toEqual([]);
  expect(links.map(link => link.split('#')[1] ?? '').filter(anchor => !/^[a-z0-9_-]*$/.test(anchor))).toEqual([]);
  const anchors = headings.map(({ anchor }) => anchor);
  expect(anchors.filter((anchor, at) => anchors.indexOf(anchor) !== at)).toEqual([]);
});

function targetExists(link: string, page: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = path.join(path.dirname(page), file || path.basename(page));
  if (!existsSync(path.join(root, target))) return false;
  return anchor === undefined || readPage(target).headings.some(heading => heading.anchor === anchor);
}
