import { describe, expect, it } from 'vitest';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { newAccount } from '../support/e2e-accounts.ts';
import { runOps } from '../support/e2e-ops.ts';
import { run } from '../support/e2e-target.ts';

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
