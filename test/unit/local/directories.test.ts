import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeRunDirectory, openDataDirectory } from '../../../local/directories.ts';

const parent = mkdtempSync(join(tmpdir(), 'emissor-directories-'));
afterAll(() => rmSync(parent, { recursive: true }));

describe('a data directory', () => {
  it('belongs to one run at a time', () => {
    const path = join(parent, 'deep', 'data');
    const data = openDataDirectory(path);
    expect(existsSync(data.tables)).toBe(true);
    expect(() => openDataDirectory(path)).toThrow(`${path} is in use by another local run.`);
    data.release();
    openDataDirectory(path).release();
  });

  it.each([['file'], ['file/below']])('cannot be made at %s', name => {
    writeFileSync(join(parent, 'file'), '');
    expect(() => openDataDirectory(join(parent, name))).toThrow(/cannot be made: E/);
  });
});

describe('a run directory', () => {
  it('is named by the process; what killed runs have left goes', () => {
    const runs = join(parent, 'runs');
    const left = join(runs, '2147483646');
    mkdirSync(left, { recursive: true });
    const { path, remove } = makeRunDirectory(runs);
    expect(path).toBe(join(runs, String(process.pid)));
    expect([existsSync(path), existsSync(left)]).toEqual([true, false]);
    remove();
    expect(existsSync(path)).toBe(false);
  });
});
