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
])('%s %j reports an unknown option with the usage and without a stack trace, and exits with 2.', (name, words) => {
  const program = path.join(import.meta.dirname, `../../${name}/${name}.ts`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words, '--fast'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^Unknown option '--fast'.*\nnpm run ${[name, ...words].join(' -- ')}`));
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
])('%o rejects %j.', (read, args) => {
  expect(() => read(args)).toThrow(TypeError);
});

test('Without options twenty seeds of each kind of world run; a seed is replayed with its class and a trace.', () => {
  const { seeds, kinds, faultClass } = readOptions([]);
  expect([seeds.length, seeds[0], kinds, faultClass]).toEqual([20, 1, ['delivery', 'tokens'], undefined]);
  const replayed = readOptions(['--seed', '7', '--kind', 'tokens', '--class', 'deaths', '--trace', 'evt_1']);
  expect(replayed).toMatchObject({ seeds: [7], kinds: ['tokens'], faultClass: 'deaths', trace: 'evt_1', gate: false });
});

test('The first seed of the gate depends on the files of the commit.', () => {
  const { seeds, gate } = readOptions(['--gate', '--seeds', '300']);
  expect([seeds.length, gate]).toEqual([300, true]);
  expect(seeds).toEqual(readOptions(['--gate', '--seeds', '300']).seeds);
});

test('Without options each attack runs in the three situations of the contract; a name selects one run.', () => {
  const { trials, seeds, isWhole } = readIsolationOptions(['--isolation']);
  expect([seeds, isWhole]).toEqual([[1], true]);
  expect(trials).toHaveLength(3 * attacks.length);
  const attack = 'always hangs, burst of 5,000';
  const repeated = readIsolationOptions(['--attack', attack, '--situation', 'fair at 10', '--seed', '7']);
  expect(repeated).toMatchObject({ trials: [{ attack, situation: { concurrency: 10 } }], seeds: [7], isWhole: false });
});

test('Before a release several seeds run; the gate has three runs.', () => {
  expect(readIsolationOptions(['--seed', '4', '--seeds', '3']).seeds).toEqual([4, 5, 6]);
  expect(readIsolationOptions(['--quick']).trials).toHaveLength(3);
});

test('The benchmark measures all parts, or the named ones in the order of the page.', () => {
  expect(bench.readOptions([]).parts).toEqual(bench.partNames);
  const { parts, json } = bench.readOptions(['delivery', '--json', 'bundles', 'delivery']);
  expect({ parts, json }).toEqual({ parts: ['bundles', 'delivery'], json: true });
});
