import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bundleHandlers, writeBundle } from '../../../../lib/constructs/bundle.ts';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';

const root = join(import.meta.dirname, '../../../..');

/** Returns the errors from a bundled function that runs without its environment. */
const failWithoutEnvironment = (entry: string): string => {
  mkdirSync(join(root, '.local'), { recursive: true });
  const directory = mkdtempSync(join(root, '.local/trace-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const bundle = writeBundle(bundleHandlers([entry]).get(entry), directory);
  return spawnSync(process.execPath, [bundle], { encoding: 'utf8', env: {} }).stderr;
};

const trace = (name: string, logged: string) => runOpsInProcess(['trace', name], logged);

it('shows the source line of an error in a deployed function', async () => {
  const logged = failWithoutEnvironment('lambdas/auth/endpoints/token.handler.ts');
  expect(logged).toMatch(/at readEnvironment \(file:\S+index\.mjs:\d+:\d+\)/);
  const { stdout, stderr } = await trace('token', logged);
  expect(stderr).toBe('');
  const [, line = ''] = /at readEnvironment \(lambdas\/platform\/environment\.ts:(\d+):\d+\)/.exec(stdout) ?? [];
  const source = readFileSync(join(root, 'lambdas/platform/environment.ts'), 'utf8').split('\n');
  expect(source[Number(line) - 1]).toContain('throw new');
});

it.each([
  ['text without a position', 'nothing happened\n'],
  ['a position in a file of Node', '    at node:internal/process/task_queues:104:5\n'],
  ['a position outside the bundle', 'at x (file:///var/task/index.mjs:999999:1)\n'],
  ['empty input', ''],
])('leaves %s unchanged', async (_case, logged) => {
  expect(await trace('rotate-keys', logged)).toEqual({ code: 0, stdout: logged, stderr: '' });
});

it('rejects an unknown function, and lists the known functions', async () => {
  const { code, stderr } = await trace('tokens', '');
  expect(code).toBe(2);
  expect(stderr).toContain('deliver, deliveries-api, discovery');
});
