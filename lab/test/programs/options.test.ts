import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as bench from '../../bench/options.ts';
import { attacks } from '../../world/isolation/attacks.ts';
import { readIsolationOptions } from '../../world/isolation/options.ts';
import { readOptions } from '../../world/options.ts';

test.each([
  ['bench', []],
  ['world', []],
  ['world', ['--isolation']],
])('%s %j prints the usage without a stack trace and exits with 2 for an unknown option', (name, args) => {
  const program = path.join(import.meta.dirname, `../../${name}/${name}.ts`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args, '--fast'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^Unknown option '--fast'.*\nnpm run ${[name, ...args].join(' -- ')}`));
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test.each<[(args: readonly string[]) => unknown, readonly string[]]>([
  [readOptions, ['--seeds', '0']],
  [readOptions, ['--class', 'storms']],
  [readOptions, ['--kind', 'dreams']],
  [readOptions, ['--trace', 'evt_1']],
  [readIsolationOptions, ['--seeds', '0']],
  [readIsolationOptions, ['--seed', 'x']],
  [readIsolationOptions, ['--situation', 'lifo']],
  [readIsolationOptions, ['--attack', 'none']],
  [bench.readOptions, ['deliveries']],
  [bench.readOptions, ['toString']],
  [bench.readOptions, ['--json=yes']],
])('%o rejects %j', (read, args) => {
  expect(() => read(args)).toThrow(TypeError);
});

test('The world program defaults to 20 seeds of each kind, and accepts one seed with its class and trace.', () => {
  const { seeds, kinds, faultClass } = readOptions([]);
  expect([seeds.length, seeds[0], kinds, faultClass]).toEqual([20, 1, ['delivery', 'tokens'], undefined]);
  const single = readOptions(['--seed', '7', '--kind', 'tokens', '--class', 'crashes', '--trace', 'evt_1']);
  expect(single).toMatchObject({ seeds: [7], kinds: ['tokens'], faultClass: 'crashes', trace: 'evt_1', gate: false });
});

test('The gate derives the same seeds from the same commit.', () => {
  const { seeds, gate } = readOptions(['--gate', '--seeds', '300']);
  expect([seeds.length, gate]).toEqual([300, true]);
  expect(seeds).toEqual(readOptions(['--gate', '--seeds', '300']).seeds);
});

test('The isolation program defaults to each attack in each of the three situations, and accepts one attack and situation.', () => {
  const { trials, seeds, isWhole } = readIsolationOptions(['--isolation']);
  expect([seeds, isWhole]).toEqual([[1], true]);
  expect(trials).toHaveLength(3 * attacks.length);
  const attack = 'always hangs, burst of 5,000';
  const single = readIsolationOptions(['--attack', attack, '--situation', 'fair at 10', '--seed', '7']);
  expect(single).toMatchObject({ trials: [{ attack, situation: { concurrency: 10 } }], seeds: [7], isWhole: false });
});

test('The isolation program accepts a range of seeds, and --quick selects three trials.', () => {
  expect(readIsolationOptions(['--seed', '4', '--seeds', '3']).seeds).toEqual([4, 5, 6]);
  expect(readIsolationOptions(['--quick']).trials).toHaveLength(3);
});

test('The benchmark defaults to all parts, and sorts the specified parts into the order of the page.', () => {
  expect(bench.readOptions([]).parts).toEqual(bench.partNames);
  const { parts, json } = bench.readOptions(['delivery', '--json', 'bundles', 'delivery']);
  expect({ parts, json }).toEqual({ parts: ['bundles', 'delivery'], json: true });
});
