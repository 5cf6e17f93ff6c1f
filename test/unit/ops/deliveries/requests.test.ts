import { startLogs } from '@emissor/local-cloud/logs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runOpsOn } from '../../../../tools/support/ops.ts';
import { noon } from '../../delivery/builders.ts';

it('ops requests find looks fourteen days back, unless --since says otherwise', async () => {
  const fortnight = 14 * 86_400_000;
  vi.useFakeTimers({ toFake: ['Date'], now: noon - 2 * fortnight });
  const logs = await startLogs();
  onTestFinished(async () => {
    vi.useRealTimers();
    await logs.stop();
  });
  const groups = ['AccessLogGroups', 'AuthLogGroups', 'WebhooksLogGroups', 'DeliveriesApiLogGroups'];
  const outputs = {
    ...Object.fromEntries(groups.map(output => [output, 'requests'])),
    LogsEndpoint: logs.endpoint,
    Region: 'us-east-1',
  };
  for (const [requestId, earlier] of Object.entries({ before: 1_000, within: -1_000 })) {
    vi.setSystemTime(noon - fortnight - earlier);
    logs.put('requests', JSON.stringify({ requestId, sourceIp: '192.0.2.1', status: '200' }));
  }
  vi.setSystemTime(noon);
  const find = async (...args: string[]) => (await runOpsOn(outputs, 'requests', 'find', ...args)).code;
  expect(await find('within')).toBe(0);
  expect(await find('before')).toBe(1);
  expect(await find('before', '--since', '15d')).toBe(0);
});
