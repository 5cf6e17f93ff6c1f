import { expect, it } from 'vitest';
import { lines, makeFormatter } from '../../../../ops/command-line/report.ts';

it('formats tables and lines of any length', () => {
  const { table } = makeFormatter<{ readonly id: string }>([{ json: 'id', heading: 'id' }]);
  const ids = Array.from({ length: 200_000 }, (_, index) => `${index}`);
  const items = ids.map(id => ({ id }));
  const rows = table(items, '').split('\n');
  expect([rows.length, rows.at(0), rows.at(-1)]).toEqual([200_001, 'ID', '199999']);
  expect(lines(ids.map(id => [id, 'x'])).split('\n')).toHaveLength(200_000);
});
