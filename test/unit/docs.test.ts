import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/**/*.md', 'local/*.md'], { cwd: root });

it.each(pages)('%s names only files that are there', page => {
  const text = readFileSync(join(root, page), 'utf8');
  const named = text.matchAll(/`((?:bin|docs|lambdas|lib|lint|local|test|tools)\/[\w./-]*\w)\/?`/g);
  const missing = [...named]
    .map(([, path = '']) => path)
    .filter(path => !path.includes('NNNN') && !existsSync(join(root, path)));
  expect(missing).toEqual([]);
});
