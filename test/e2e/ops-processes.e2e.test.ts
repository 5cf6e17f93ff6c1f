import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { ops, runOps, startOps } from '../support/e2e-ops.ts';
import { newAccount } from '../support/e2e-service.ts';
import { run } from '../support/e2e-target.ts';
import { passwordHashing } from '../support/password-hashing.ts';

// test/unit/ops tests the commands in the test process. These tests run the commands in a separate process, as an operator does.
it.each([
  ['users', 'disable', 'nobody'],
  ['--json', 'keys', 'rotate', '--revoke'],
  ['publish', '--account', 'a', '--event', 'x', '--demand', '1', '--password=secret'],
  ['deliveries', 'replay', '--help'],
])('ops prints the same output in a separate process as in the test process: %s %s', async (...words) => {
  const args = ['--outputs', run.outputsFile, ...words];
  const expected = await runOpsInProcess(args);
  expect(expected.stdout + expected.stderr).not.toBe('');
  expect(await runOps(args)).toEqual(expected);
});

// Bug: `2>&1 | head` silently stopped an import halfway, and ops did not complete its audit line.
it('ops completes an import if its standard error is closed', async () => {
  const [folder, account] = [mkdtempSync(join(tmpdir(), 'emissor-closed-')), newAccount()];
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const password_hash = await passwordHashing.hash(unique());
  const users = Array.from({ length: 20 }, () => ({ email: `${unique()}@example.com`, account, role: 'member' }));
  const lines = users.map(user => JSON.stringify({ ...user, password_hash }));
  const file = join(folder, 'users.ndjson');
  writeFileSync(file, ['{', ...lines].join('\n')); // ops warns about the first line

  const child = startOps(['--outputs', run.outputsFile, 'users', 'import', file]);
  child.stderr.destroy();
  child.stdout.resume();
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(await ops(['users', 'list', '--account', account])).toHaveLength(users.length);
  const trail = await ops<object[]>(['audit', 'list', '--limit', '1000']);
  const target = { accounts: [account], count: users.length };
  expect(trail).toContainEqual(expect.objectContaining({ command: 'users import', outcome: 'failed', target }));
});
