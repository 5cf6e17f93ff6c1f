import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const copy = mkdtempSync(join(tmpdir(), 'emissor-bare-'));
beforeAll(() => {
  for (const part of ['bin', 'ops', 'lib', 'lambdas', 'package.json', 'cdk.json', 'tsconfig.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
});
afterAll(() => rmSync(copy, { recursive: true }));

/** Runs an entry as its npm script, or the CDK, does, and expects it to fail in one line, without a stack trace. */
const expectMissing = (missing: string, entry: string, ...words: string[]) => {
  const args = ['--require', './bin/node-version.cjs', entry, ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  const line = `^Emissor's dependencies are not installed \\(${missing}\\)\\. Run "npm ci" in .*\\.\n$`;
  expect(stderr).toMatch(new RegExp(line));
};

describe('without installed dependencies', { timeout: 30_000 }, () => {
  it.each(globSync('bin/*.ts', { cwd: root }))('%s reports the missing packages in one line', entry => {
    expectMissing('\\S+ and \\d+ more', entry);
  });

  it('the error names a package that was added after the last "npm ci"', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const modules = join(copy, 'node_modules');
    for (const name of Object.keys(dependencies).filter(name => name !== 'commander')) {
      mkdirSync(join(modules, name, '..'), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    expectMissing('commander', 'bin/ops.ts', '--help');
    rmSync(modules, { recursive: true });
  });
});
