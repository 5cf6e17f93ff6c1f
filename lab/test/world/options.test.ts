import { expect, test } from 'vitest';
import { readOptions, usage } from '../../world/options.ts';

test('Without options twenty seeds run.', () => {
  const { seeds, faultClass, trace } = readOptions([]);
  expect([seeds.length, seeds[0], faultClass, trace]).toEqual([20, 1, undefined, undefined]);
});

test('A seed is replayed with its class and a trace.', () => {
  const options = readOptions(['--seed', '7', '--class', 'deaths', '--trace', 'evt_1']);
  expect(options).toEqual({ seeds: [7], faultClass: 'deaths', trace: 'evt_1', gate: false, help: false });
});

test('The gate begins with a seed that the files of the commit say.', () => {
  const { seeds, gate } = readOptions(['--gate', '--seeds', '300']);
  expect([seeds.length, gate]).toEqual([300, true]);
  expect(seeds).toEqual(readOptions(['--gate', '--seeds', '300']).seeds);
});

test.each([[['--seeds', '0']], [['--class', 'storms']], [['--trace', 'evt_1']], [['--speed', '1']]])(
  'Options that would run nothing are refused: %j',
  args => {
    expect(() => readOptions(args)).toThrow(TypeError);
  },
);

test('The usage names every option.', () => {
  for (const option of ['seeds', 'from', 'seed', 'class', 'trace', 'gate', 'help'])
    expect(usage).toContain(`--${option}`);
});
