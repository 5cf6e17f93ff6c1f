import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRunDirectory, openDataDirectory } from '../../src/local/directories.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const parent = temporaryDirectory();

/** Runs a function as a user who may not write to `path`. */
const withoutWritePermission = (path: string, act: () => void): void => {
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

describe('openDataDirectory', () => {
  it('rejects a directory that another run uses', async () => {
    const path = join(parent, 'deep', 'data');
    const data = openDataDirectory(path);
    expect(() => openDataDirectory(path)).toThrow(
      expect.objectContaining({ message: `${path} is in use by another local run`, problem: 'data-in-use' }),
    );
    await data.release();
    await openDataDirectory(path).release();
  });

  it('rejects a directory if creating the lock file fails', () => {
    const path = join(parent, 'occupied');
    mkdirSync(join(path, 'lock'), { recursive: true });
    expect(() => openDataDirectory(path)).toThrow(/^Could not use .*occupied: unable to open database file$/);
  });

  it('rejects a read-only directory', async () => {
    const path = join(parent, 'read-only');
    await openDataDirectory(path).release();
    withoutWritePermission(path, () => {
      expect(() => openDataDirectory(path)).toThrow(/^Could not use .*: attempt to write a readonly database/);
    });
  });

  it.each([['file'], ['file/below']])('rejects the path %s if creating the directory fails', name => {
    writeFileSync(join(parent, 'file'), '');
    expect(() => openDataDirectory(join(parent, name))).toThrow(/^Could not create the directory \S+: E/);
  });
});

describe('makeRunDirectory', () => {
  it('creates a directory named after the process, and removes the directories of killed runs', () => {
    const runs = join(parent, 'runs');
    const stale = join(runs, '2147483646');
    mkdirSync(stale, { recursive: true });
    const { path, remove } = makeRunDirectory(runs);
    expect(path).toBe(join(runs, String(process.pid)));
    expect([existsSync(path), existsSync(stale)]).toEqual([true, false]);
    remove();
    expect(existsSync(path)).toBe(false);
  });
});
