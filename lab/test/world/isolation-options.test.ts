import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { attacks } from '../../world/isolation/attacks.ts';
import { isolationUsage, readIsolationOptions } from '../../world/isolation/options.ts';

test('Without options each attack is run in both orders, and a day of the models.', () => {
  const { trials, seeds, hours, isWhole } = readIsolationOptions(['--isolation']);
  expect([seeds, hours, isWhole]).toEqual([[1], 24, true]);
  for (const { name } of attacks) {
    expect(new Set(trials.filter(({ attack }) => attack === name).map(({ situation }) => situation.isFair)).size).toBe(
      2,
    );
  }
});

test('A broken run is repeated by its attack, order and seed.', () => {
  const args = ['--isolation', '--attack', 'always hangs, burst of 5,000', '--order', 'fair', '--seed', '7'];
  const { trials, seeds, isWhole } = readIsolationOptions(args);
  expect(trials).toMatchObject([{ attack: 'always hangs, burst of 5,000', situation: { isFair: true } }]);
  expect([seeds, isWhole]).toEqual([[7], false]);
});

test('Before a release several seeds run; the gate has three runs.', () => {
  expect(readIsolationOptions(['--seed', '4', '--seeds', '3']).seeds).toEqual([4, 5, 6]);
  expect(readIsolationOptions(['--quick']).trials).toHaveLength(3);
});

test.each([
  ['--seeds', '0'],
  ['--seed', 'x'],
  ['--hours', '1.5'],
  ['--order', 'lifo'],
  ['--attack', 'none'],
  ['--fast', ''],
])('Options that would run nothing, or something else, are refused: %s %s', (option, value) => {
  expect(() => readIsolationOptions([`${option}=${value}`])).toThrow(TypeError);
});

test('What is not understood is told with the usage and without a stack trace, and ends with 2.', () => {
  const program = path.join(import.meta.dirname, '../../world/world.ts');
  const args = [program, '--isolation', '--fast'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^Unknown option '--fast'.*\nnpm run world -- --isolation/);
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test('The usage names every option.', () => {
  for (const option of ['attack', 'order', 'seed', 'seeds', 'quick', 'hours', 'help']) {
    expect(isolationUsage).toContain(`--${option}`);
  }
});
