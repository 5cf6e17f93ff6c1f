import { expect, test } from 'vitest';
import { readOptions, usage } from '../../world/options.ts';

test('Without options twenty seeds of each kind run.', () => {
  const { seeds, kinds, faultClass, trace } = readOptions([]);
  expect([seeds.length, seeds[0], faultClass, trace]).toEqual([20, 1, undefined, undefined]);
  expect(kinds).toEqual(['delivery', 'tokens']);
});

test('A seed is replayed with its class and a trace.', () => {
  const options = readOptions(['--seed', '7', '--kind', 'tokens', '--class', 'deaths', '--trace', 'evt_1']);
  expect(options).toEqual({
    seeds: [7],
    kinds: ['tokens'],
    faultClass: 'deaths',
    trace: 'evt_1',
    gate: false,
    help: false,
  });
});

test('The gate begins with a seed that the files of the commit say.', () => {
  const { seeds, gate } = readOptions(['--gate', '--seeds', '300']);
  expect([seeds.length, gate]).toEqual([300, true]);
  expect(seeds).toEqual(readOptions(['--gate', '--seeds', '300']).seeds);
});

test.each([
  [['--seeds', '0']],
  [['--class', 'storms']],
  [['--kind', 'dreams']],
  [['--trace', 'evt_1']],
  [['--speed', '1']],
])('Options that would run nothing are refused: %j', args => {
  expect(() => readOptions(args)).toThrow(TypeError);
});

test('The usage names every option.', () => {
  for (const option of ['seeds', 'from', 'seed', 'kind', 'class', 'trace', 'gate', 'help'])
    expect(usage).toContain(`--${option}`);
});
