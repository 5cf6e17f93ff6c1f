import { startLogs } from '@emissor/local-cloud/logs';
import { expect, it } from 'vitest';
import { copyMissing } from '../../../../ops/deployment/tables.command.ts';
import { makeTarget, type Task } from '../../../../ops/stage/target.ts';

it.each(['sessions', 'lockouts'] as const)('%s are not copied: one that was ended would come back', async table => {
  const logs = await startLogs();
  const confirmed: string[] = [];
  const task: Task = {
    target: makeTarget({
      label: 'the test',
      outputs: { LogsEndpoint: logs.endpoint, Region: 'us-east-1', AuditLogGroup: 'audit' },
      unreachable: 'nothing answers.',
    }),
    progress: () => {},
    tell: () => {},
    warn: () => {},
    confirm: async text => void confirmed.push(text),
    askPassword: async () => '',
  };
  await expect(copyMissing.act(task, { table, restored: 'restored' })).rejects.toThrow(
    new RegExp(`^${table} are not copied: `),
  );
  expect(confirmed).toEqual([]);
  await logs.stop();
});
