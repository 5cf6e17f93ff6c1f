import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRunDirectory, openDataDirectory } from '../../src/local/directories.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const parent = temporaryDirectory();

/** Runs a function as a user without write permission. */
const withoutRights = (path: string, act: () => void): void => {
  chmodSync(path, 0o555);
  chmodSync(parent, 0o755);
  const self = process.geteuid?.();
  if (self === 0) process.seteuid?.('nobody'); // root may write anywhere
  try {
    act();
  } finally {
    if (self === 0) process.seteuid?.(self);
  }
};

describe('a data directory', () => {
  it('belongs to one run at a time', async () => {
    const path = join(parent, 'deep', 'data');
    const data = openDataDirectory(path);
    expect(() => openDataDirectory(path)).toThrow(
      expect.objectContaining({ message: `${path} is in use by another local run`, problem: 'data-in-use' }),
    );
    await data.release();
    await openDataDirectory(path).release();
  });

  it('that cannot be used is reported in one line', () => {
    const path = join(parent, 'occupied');
    mkdirSync(join(path, 'lock'), { recursive: true });
    expect(() => openDataDirectory(path)).toThrow(/occupied cannot be used: unable to open database file$/);
  });

  it('that is read-only is reported in one line', async () => {
    const path = join(parent, 'read-only');
    await openDataDirectory(path).release();
    withoutRights(path, () => {
      expect(() => openDataDirectory(path)).toThrow(/read-only cannot be used: attempt to write a readonly database/);
    });
  });

  it.each([['file'], ['file/below']])('cannot be created at %s', name => {
    writeFileSync(join(parent, 'file'), '');
    expect(() => openDataDirectory(join(parent, name))).toThrow(/cannot be created: E/);
  });
});

describe('a run directory', () => {
  it('is named by the process; those of killed runs are removed', () => {
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
