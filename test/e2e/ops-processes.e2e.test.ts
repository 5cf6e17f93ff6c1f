import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { newAccount } from '../support/e2e-accounts.ts';
import { ops, runOps, startOps } from '../support/e2e-ops.ts';
import { run } from '../support/e2e-target.ts';
import { passwordHashing } from '../support/password-hashing.ts';

// The effects of the commands are tried in the process of the tests. Here one of each noun is started as an operator starts it;
// those of users and smoke are in their own suites.
describe('as a process, ops', () => {
  it.concurrent.each<[noun: string, args: string[]]>([
    ['clients', ['clients', 'disable', 'nobody']],
    ['sessions', ['--json', 'sessions', 'list']],
    ['keys', ['--json', 'keys', 'rotate', '--revoke']],
    ['webhooks', ['--json', 'webhooks', 'list', '--account', newAccount()]],
    ['publish', ['publish', '--account', 'a', '--event', 'x', '--demand', '1', '--password=secret']],
    ['deliveries', ['deliveries', 'replay', '--help']],
    ['events', ['events', 'find', 'evt_x']],
    ['dlq', ['dlq', 'discard', '--yes']],
    ['status', ['status', '--help']],
  ])('%s says what it says in this process', async (_noun, args) => {
    const words = ['--outputs', run.outputsFile, ...args];
    const expected = await runOpsInProcess(words);
    expect(expected.stdout + expected.stderr).not.toBe('');
    expect(await runOps(words)).toEqual(expected);
  });
});

// Bug: `2>&1 | head` ended an import half-way, without a word, and its audit line stayed "begun".
it('ops goes on to its end where nobody reads its standard error', async () => {
  const [folder, account] = [mkdtempSync(join(tmpdir(), 'emissor-closed-')), newAccount()];
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const password_hash = await passwordHashing.hash(unique());
  const users = Array.from({ length: 20 }, () => ({ email: `${unique()}@example.com`, account, role: 'member' }));
  const lines = users.map(user => JSON.stringify({ ...user, password_hash }));
  const file = join(folder, 'users.ndjson');
  writeFileSync(file, ['{', ...lines].join('\n')); // its first line is warned of

  const child = startOps(['--outputs', run.outputsFile, 'users', 'import', file]);
  child.stderr.destroy();
  child.stdout.resume();
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(await ops(['users', 'list', '--account', account])).toHaveLength(users.length);
  const trail = await ops<object[]>(['audit', 'list', '--limit', '1000']);
  const target = { accounts: [account], count: users.length };
  expect(trail).toContainEqual(expect.objectContaining({ command: 'users import', outcome: 'failed', target }));
});
