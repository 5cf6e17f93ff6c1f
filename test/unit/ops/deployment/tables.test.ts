import { startLogs } from '@emissor/local-cloud/logs';
import { expect, it } from 'vitest';
import { actions } from '../../../../ops/deployment/tables.ts';
import { makeTarget, type Task } from '../../../../ops/stage/target.ts';

it.each(['sessions', 'lockouts'])('%s are not copied: one that was ended would come back', async table => {
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
  await expect(actions.copyMissing(task, table, 'restored')).rejects.toThrow(new RegExp(`^${table} are not copied: `));
  expect(confirmed).toEqual([]);
  await logs.stop();
});
