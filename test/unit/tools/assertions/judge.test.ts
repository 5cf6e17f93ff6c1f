import { expect, it } from 'vitest';
import type { Kind } from '../../../../tools/assertions/find-assertions.ts';
import { judge, type Place } from '../../../../tools/assertions/judge.ts';

const places = (count: number, kind: Kind = 'as T', reason = 'Why.'): Place[] =>
  Array.from({ length: count }, (_, at) => ({ room: 'lib', file: 'lib/a.ts', line: at + 1, kind, text: '', reason }));

it('is content with as many as are allowed, of all kinds together', () => {
  expect(judge([...places(2), ...places(1, 'any')], { lib: 3 })).toEqual({ failures: [], remarks: [] });
});

it.each([
  [
    'more than are allowed',
    [...places(2), ...places(1, 'any')],
    { lib: 2 },
    ['lib asserts 3 times. most.json allows 2.'],
  ],
  ['nine by way of unknown', places(9, 'as unknown as'), { lib: 9 }, ['"as unknown as" 9 times. 8 may be.']],
  [
    'one by way of unknown without its reason',
    places(1, 'as unknown as', ''),
    { lib: 1 },
    ['lib/a.ts:1: "as unknown as" without its reason in a // comment above.'],
  ],
])('refuses %s', (_name, found, most, failures) => {
  expect(judge(found, most).failures).toEqual(failures);
});

it('asks to lower what is higher than it has to be, also of a room that is gone', () => {
  expect(judge(places(1), { lib: 2, bin: 1 })).toEqual({
    failures: [],
    remarks: ['lib asserts 1 times. Lower its 2 in most.json.', 'bin asserts 0 times. Lower its 1 in most.json.'],
  });
});
