import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'emissor-bare-'));
  for (const part of ['bin', 'ops', 'lib', 'lambdas', 'package.json', 'cdk.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
});
afterAll(() => rmSync(copy, { recursive: true }));

/** Runs an entry as its npm script, or the CDK, does. */
const start = (entry: string, ...words: string[]) => {
  const args = ['--require', './bin/node-version.cjs', entry, ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  return { status, stdout, stderr };
};

const entries = globSync('bin/*.ts', { cwd: root });

describe('without its dependencies', { timeout: 30_000 }, () => {
  it.each(entries)('%s says so in one line, without a stack trace', entry => {
    const { status, stdout, stderr } = start(entry);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Emissor's dependencies are not installed \(\S+ and \d+ more\): run "npm ci" in .*\.\n$/);
  });

  it('names the one that is missing since the last "npm ci"', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const modules = join(copy, 'node_modules');
    for (const name of Object.keys(dependencies).filter(name => name !== 'commander')) {
      mkdirSync(join(modules, name, '..'), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    expect(start('bin/ops.ts', '--help')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^Emissor's dependencies are not installed \(commander\): run "npm ci" in .*\.\n$/),
    });
    rmSync(modules, { recursive: true });
  });
});
