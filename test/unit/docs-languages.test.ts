import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { pairs as pages } from '../../site/pages.ts';
import { type CodeBlock, inlineCode, type Page, readPage } from '../support/markdown-page.ts';

// The integrators' pages exist in two languages. These tests compare them.

it('both languages have the same pages', () => {
  const names = (folder: string) =>
    globSync('*.md', { cwd: path.join(import.meta.dirname, '../../docs', folder) }).sort();
  expect(names('pt')).toEqual(pages.map(([portuguese]) => `${portuguese}.md`).sort());
  expect(names('en')).toEqual(pages.map(([, english]) => `${english}.md`).sort());
});

describe.each(pages)('docs/pt/%s.md and docs/en/%s.md', (portuguese, english) => {
  const pt = readPage(`docs/pt/${portuguese}.md`);
  const en = readPage(`docs/en/${english}.md`);

  it('start with their only title and a sentence', () => {
    for (const { lines, headings } of [pt, en]) {
      expect(headings.map(({ level }) => level).filter(level => level === 1)).toEqual([1]);
      expect(lines[0]).toMatch(/^# /);
      expect(lines[2]).toMatch(/^\p{Lu}.+[.:]$/u);
    }
  });

  it('have the same sections, and the same headings for codes and event names', () => {
    expect(levels(en)).toEqual(levels(pt));
    expect(wireHeadings(en)).toEqual(wireHeadings(pt));
  });

  it('have the same code, except for comments and translated texts', () => {
    expect(en.blocks.map(comparable)).toEqual(pt.blocks.map(comparable));
  });

  it('have the same tables, with the same names in the first cell of each row', () => {
    const firstCells = ({ tables }: Page) => tables.map(({ rows }) => rows.map(([cell = '']) => [...inlineCode(cell)]));
    expect(firstCells(en)).toEqual(firstCells(pt));
  });

  it('have the same inline code and numbers in each section', () => {
    expect(en.headings.map(factsOf)).toEqual(pt.headings.map(factsOf));
  });

  it('link to the same targets', () => {
    const targets = ({ links, path: file }: Page) => links.map(link => targetOf(link, file));
    expect(targets(en)).toEqual(targets(pt));
  });
});

function levels({ headings }: Page): readonly number[] {
  return headings.map(({ level }) => level);
}

/** Returns the headings that are codes or event names. They are the same in both languages. */
function wireHeadings({ headings }: Page): readonly string[] {
  return headings.map(({ text }) => text).filter(text => /^[a-z]+[._][a-z_]+$|^(required|repeated)$/.test(text));
}

function comparable({ language, text }: CodeBlock): readonly string[] {
  const withoutTexts =
    language === 'json'
      ? text.replaceAll(/"(title|detail)":"[^"]*"/g, '"$1":…')
      : text.replaceAll(" -H 'Accept-Language: pt-BR'", '');
  return [language, ...withoutTexts.split('\n').map(line => withoutComment(line, language))];
}

/** Returns a line without its comment if the language is Bash. */
function withoutComment(line: string, language: string): string {
  const at = language === 'bash' ? line.search(/(^|\s)# \S/) : -1;
  return at < 0 ? line : line.slice(0, at);
}

/** Returns the inline code and numbers in a section, sorted. Omits separators, because `2.048` in Portuguese is `2,048` in English. */
function factsOf({ lines, text }: Page['headings'][number]): readonly string[] {
  const prose = [text, ...lines].join('\n').replaceAll(/\]\([^)]*\)/g, ']');
  const numbers = prose.replaceAll(/`[^`]*`/g, '').matchAll(/(?<![\w.,])\d[\d.,]*\d|\d/g);
  return [...inlineCode(prose), ...[...numbers].map(([number]) => number.replaceAll(/[.,]/g, ''))].sort();
}

/** Returns the target of a link as the index of its page and the index of its heading, which do not depend on the language. */
function targetOf(link: string, from: string): string {
  if (link.startsWith('https:')) return link;
  const [file = '', anchor] = link.split('#');
  const target = path.join(path.dirname(from), file || path.basename(from));
  const name = path.basename(target, '.md');
  const isPage = /^docs\/(pt|en)\//.test(target);
  const inBoth = target.replace(/-pt\.png$/, '.png');
  const number = isPage ? pages.findIndex(names => names.some(one => one === name)) : inBoth;
  const heading = anchor === undefined ? '' : readPage(target).headings.findIndex(one => one.anchor === anchor);
  return `${number}#${heading}`;
}
