import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { resumeExport } from '../../../../ops/tenants/partial-export.ts';

const folder = await mkdtemp(join(tmpdir(), 'emissor-partial-'));
afterAll(() => rm(folder, { recursive: true }));

const now = Date.parse('2026-11-22T00:00:00.000Z');
const lineOf = (id: string) => `${JSON.stringify({ type: 'delivery', id })}\n`;

// Bug: deliveries of last month, as they were then, passed for those of today.
it.each([
  ['hours ago', '2026-11-21T01:00:00.000Z', ['one', 'two']],
  ['two days ago', '2026-11-20T00:00:00.000Z', []],
])('an export goes on with what was read %s: %s %j', async (_case, readAt, ids) => {
  const file = join(folder, readAt);
  await resumeExport(file, Date.parse(readAt));
  await writeFile(file, `${lineOf('one')}${lineOf('two')}{"type":"deliv`);
  const resumed = await resumeExport(file, now);
  expect(resumed).toEqual({ ids: new Set(ids), begunAt: ids.length > 0 ? Date.parse(readAt) : now });
  expect(await readFile(file, 'utf8')).toBe(ids.map(lineOf).join(''));
});

// Bug: each run made the file a new one, so that a chain of them went on with deliveries of any age.
it('an export that is resumed again and again goes on for a day since it was begun', async () => {
  const file = join(folder, 'chain');
  await resumeExport(file, now);
  await writeFile(file, lineOf('one'));
  const resumedAt = async (hours: number) => (await resumeExport(file, now + hours * 3_600_000)).ids.size;
  expect([await resumedAt(23), await resumedAt(25)]).toEqual([1, 0]);
});

it('an export that nobody can say the age of begins anew', async () => {
  const file = join(folder, 'ageless');
  await writeFile(file, lineOf('one'));
  expect(await resumeExport(file, now)).toEqual({ ids: new Set(), begunAt: now });
  expect(await readFile(file, 'utf8')).toBe('');
});

it('an export begins where there is no file', async () => {
  expect((await resumeExport(join(folder, 'none'), now)).ids).toEqual(new Set());
});
