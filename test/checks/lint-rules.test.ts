import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const root = path.join(import.meta.dirname, '../..');

it.each([
  ['rejects it in a program', 'lambdas/example.ts', '', ['plugin']],
  ['accepts a suppression', 'lambdas/example.ts', '// biome-ignore lint/plugin/unchecked-assertions: a reason\n', []],
  [
    'rejects a suppression without a reason',
    'lambdas/example.ts',
    '// biome-ignore lint/plugin/unchecked-assertions:\n',
    ['suppressions/parse', 'plugin'],
  ],
  ['accepts it in a test', 'lab/test/example.test.ts', '', []],
])('the lint rule for `as unknown as` %s', (_case, file, comment, findings) => {
  expect(lint(file, `${comment}export const text = 1 as unknown as string;\n`)).toEqual(findings);
});

it.each([
  ['rejects values of lambdas/', "import { isClientId } from '../lambdas/client.ts';\nisClientId();\n", ['plugin']],
  [
    'accepts types of lambdas/',
    "import type { Client } from '../lambdas/client.ts';\nexport const clients: Client[] = [];\n",
    [],
  ],
  ['rejects types of ops/', "import type { Task } from '../ops/run.ts';\nexport const all: Task[] = [];\n", ['plugin']],
  ['rejects packages', "import { start } from '@emissor/cloud/start';\nstart();\n", ['plugin']],
])('the lint rule for imports in console/ %s', (_case, source, findings) => {
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
