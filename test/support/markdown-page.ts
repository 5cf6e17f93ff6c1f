import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './run-node.ts';

export type Page = ReturnType<typeof readPage>;

/** A fenced code block and the heading above it. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  readonly heading: string;
}

/** Parses a Markdown page. `links` are the link targets outside code, and `rows` exclude the header of a table. */
export function readPage(file: string) {
  const lines: readonly string[] = readFileSync(path.join(root, file), 'utf8').split('\n');
  /** The headings. The lines of a section end at the next heading of any level, and exclude code blocks. */
  const headings: { level: number; text: string; anchor: string; lines: string[] }[] = [];
  const blocks: CodeBlock[] = [];
  const tables: { heading: string; rows: readonly (readonly string[])[] }[] = [];
  const links: string[] = [];
  let block: { language: string; lines: string[] } | undefined;
  let table: string[][] = [];
  for (const line of [...lines, '']) {
    const heading = headings.at(-1)?.text ?? '';
    const fence = /^\s*```(\w*)$/.exec(line);
    if (fence && block) {
      blocks.push({ language: block.language, text: block.lines.join('\n'), heading });
      block = undefined;
    } else if (fence) {
      block = { language: fence[1] ?? '', lines: [] };
    } else if (block) {
      block.lines.push(line);
    } else {
      const [, marks, text = ''] = /^(#+) (.*)$/.exec(line) ?? [];
      if (marks) headings.push({ level: marks.length, text, anchor: anchorOf(text), lines: [] });
      else headings.at(-1)?.lines.push(line);
      for (const [, target = ''] of withoutCode(line).matchAll(/\]\(([^)\s]+)\)/g)) links.push(target);
      if (line.startsWith('|')) table.push(cellsOf(line));
      else if (table.length > 0) {
        tables.push({ heading, rows: table.slice(2) });
        table = [];
      }
    }
  }
  return { path: file, lines, headings, blocks, tables, links };
}

export function inlineCode(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** Returns the lines of a section, without code blocks. @throws if the page lacks the heading */
export function sectionOf({ headings, path: file }: Page, heading: string): string {
  const section = headings.find(({ text }) => text === heading);
  if (!section) throw new Error(`${file} has no section "${heading}".`);
  return section.lines.join('\n').trim();
}

/** Returns the code blocks of a section, optionally only those in one language. */
export function blocksOf({ blocks }: Page, heading: string, language?: string): readonly string[] {
  return blocks
    .filter(block => block.heading === heading && (language === undefined || block.language === language))
    .map(({ text }) => text);
}

/** Returns the names in the first cells of each table in a section. */
export function firstCells({ tables }: Page, heading: string): readonly (readonly string[])[] {
  return tables
    .filter(table => table.heading === heading)
    .map(({ rows }) => rows.map(([cell = '']) => inlineCode(cell)[0] ?? ''));
}

/** Returns the anchor that GitHub generates for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function withoutCode(line: string): string {
  return line.replaceAll(/`[^`]*`/g, '');
}

function cellsOf(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim());
}
