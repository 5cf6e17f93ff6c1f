import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const root = path.join(import.meta.dirname, '../..');

it.each([
  ['in a program', 'lambdas/example.ts', '', ['plugin']],
  ['with a reason', 'lambdas/example.ts', '// biome-ignore lint/plugin/unchecked-assertions: a reason\n', []],
  [
    'without a reason',
    'lambdas/example.ts',
    '// biome-ignore lint/plugin/unchecked-assertions:\n',
    ['suppressions/parse', 'plugin'],
  ],
  ['in a test', 'lab/test/example.test.ts', '', []],
])('the linter checks `as unknown as` %s', (_case, file, comment, findings) => {
  expect(lint(file, `${comment}export const text = 1 as unknown as string;\n`)).toEqual(findings);
});

it.each([
  ['a value of lambdas/', "import { isClientId } from '../lambdas/client.ts';\nisClientId();\n", ['plugin']],
  [
    'a type of lambdas/',
    "import type { Client } from '../lambdas/client.ts';\nexport const clients: Client[] = [];\n",
    [],
  ],
  ['a type of ops/', "import type { Task } from '../ops/target.ts';\nexport const tasks: Task[] = [];\n", ['plugin']],
  ['a package', "import { start } from '@emissor/cloud/start';\nstart();\n", ['plugin']],
])('the linter checks an import of %s in console/', (_case, source, findings) => {
  expect(lint('console/example.ts', source)).toEqual(findings);
});

/** Returns the rules that a file violates with this project's configuration. */
function lint(file: string, source: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-lint-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['biome.json', '.gitignore', 'lint'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), source);
  const biome = path.join(root, 'node_modules/.bin/biome');
  const { stdout } = spawnSync(biome, ['lint', '--reporter=json', file], { cwd: folder, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { category: string }[] };
  return diagnostics.map(({ category }) => category);
}
