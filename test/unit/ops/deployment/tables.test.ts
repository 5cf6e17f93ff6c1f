import { startLogs } from '@emissor/local-cloud/logs';
import { expect, it } from 'vitest';
import { copyMissing } from '../../../../ops/deployment/tables.command.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { aTask } from '../a-task.ts';

it.each(['sessions', 'lockouts'] as const)('%s are not copied: one that was ended would come back', async table => {
  const logs = await startLogs();
  const confirmed: string[] = [];
  const target = localTarget({ LogsEndpoint: logs.endpoint, Region: 'us-east-1', AuditLogGroup: 'audit' });
  const task = aTask(target, { confirm: async text => void confirmed.push(text) });
  await expect(copyMissing.act(task, { table, restored: 'restored' })).rejects.toThrow(
    new RegExp(`^${table} are not copied: `),
  );
  expect(confirmed).toEqual([]);
  await logs.stop();
});
