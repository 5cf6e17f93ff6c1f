import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeExport } from '../../../../ops/tenants/partial-export.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'emissor-partial-'));
});
afterAll(() => rm(folder, { recursive: true }));

const now = Date.parse('2026-11-22T00:00:00.000Z');
const lineOf = (id: string) => `${JSON.stringify({ type: 'delivery', id })}\n`;

// Bug: deliveries of last month, as they were then, passed for those of today.
it.each([
  ['hours ago', '2026-11-21T01:00:00.000Z', ['one', 'two']],
  ['two days ago', '2026-11-20T00:00:00.000Z', []],
])('an export goes on with what was read %s: %s %j', async (_case, readAt, ids) => {
  const file = join(folder, readAt);
  await writeFile(file, `${lineOf('one')}${lineOf('two')}{"type":"deliv`);
  await utimes(file, new Date(readAt), new Date(readAt));
  const resumed = await resumeExport(file, now);
  expect(resumed).toEqual({ ids: new Set(ids), readAt: Date.parse(readAt) });
  expect(await readFile(file, 'utf8')).toBe(ids.map(lineOf).join(''));
});

it('an export begins where there is no file', async () => {
  expect((await resumeExport(join(folder, 'none'), now)).ids).toEqual(new Set());
});
