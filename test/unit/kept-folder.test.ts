import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keptFolder } from '../support/kept-folder.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'emissor-cache-'));
  vi.stubEnv('XDG_CACHE_HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

const fillWith = (text: string) => async (draft: string) => {
  await turn();
  writeFileSync(path.join(draft, 'file'), text);
};

it('two that make the same folder at once get the same one, which was made once', async () => {
  const [one, other] = await Promise.all([keptFolder('a/b', fillWith('one')), keptFolder('a/b', fillWith('other'))]);
  expect(other).toBe(one);
  expect(readFileSync(path.join(one, 'file'), 'utf8')).toBe('one');
  const never = vi.fn();
  expect(await keptFolder('a/b', never)).toBe(one);
  expect(never).not.toHaveBeenCalled();
  expect(readdirSync(path.join(home, 'emissor'))).toEqual(['a']);
});

it('one that fails leaves nothing, and the next makes the folder', async () => {
  const failing = async (draft: string) => {
    await fillWith('half')(draft);
    throw new Error('no network');
  };
  await expect(keptFolder('a', failing)).rejects.toThrow('no network');
  expect(readdirSync(path.join(home, 'emissor'))).toEqual([]);
  expect(readFileSync(path.join(await keptFolder('a', fillWith('all')), 'file'), 'utf8')).toBe('all');
});
