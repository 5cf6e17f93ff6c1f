import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

const start = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/local.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

describe('npm start ends', { timeout: 30_000 }, () => {
  it.each([[['--bogus']], [['--port', 'x']], [['--set', 'nonsense=1']]])('with 2 when it is told %j', words => {
    expect(start(...words)).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) });
  });

  it('with 1, before any work, when it could not keep or write what it is to', () => {
    expect(start('--port', '0', '--outputs', '/dev/null')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The outputs cannot be written to \/dev\/null: .*\n$/),
    });
    expect(start('--port', '0', '--outputs', join(root, '.local/never.json'), '--data', '/dev/null')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The directory \/dev\/null cannot be made: .*\n$/),
    });
  });
});
