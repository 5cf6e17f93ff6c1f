import type { GetMetricDataCommand, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import { StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { expect, it } from 'vitest';
import { makeReadTraffic, type Traffic } from '../../../../ops/console/operator/traffic.ts';
import { isUnread } from '../../../../ops/stage/operator.ts';
import type { Target } from '../../../../ops/stage/target.ts';

const hour = 3_600_000;
const noon = Date.parse('2026-11-22T12:00:00.000Z');
let now = noon;

/** A target whose AWS answers each command so. */
const targetThat = (send: (command: object) => object, parts: object): Target =>
  ({
    label: 'stage dev',
    unreachable: 'nothing answers',
    outputs: {},
    connect: () => ({ send: async (command: object) => send(command) }),
    clock: { now: () => now },
    ...parts,
  }) as never;
const stage = (send: (command: object) => object) =>
  targetThat(send, { deployed: { configuration: { stage: 'dev' } } });
const localRun = (send: (command: object) => object) =>
  targetThat(send, { outputs: { LogsEndpoint: 'http://127.0.0.1:1', DeliveryLogGroups: 'first,retry' } });

/** The answer for metrics that nobody has written. */
const complete = { MetricDataResults: [0, 1, 2, 3, 4].map(at => ({ Id: `m${at}`, StatusCode: 'Complete' })) };

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
const totals = (read: Awaited<ReturnType<ReturnType<typeof makeReadTraffic>>>) => {
  if (isUnread(read)) throw new Error(read.unread);
  const { hours, delivered, failed, held } = read satisfies Traffic;
  expect([hours.length, hours[0], hours[23]]).toEqual([24, '2026-11-21T13:00:00.000Z', '2026-11-22T12:00:00.000Z']);
  return { delivered: total(delivered), failed: total(failed), held: total(held) };
};

it('sums the metrics that the functions of a stage write, by one call', async () => {
  now = noon + 30 * 60_000;
  const asked: string[] = [];
  const read = makeReadTraffic(
    stage(command => {
      const { MetricDataQueries = [], StartTime } = (command as GetMetricDataCommand).input;
      return {
        MetricDataResults: MetricDataQueries.map(({ Id, MetricStat }, at): MetricDataResult => {
          const { Namespace, MetricName, Dimensions } = MetricStat?.Metric ?? {};
          asked.push(`${Namespace} ${MetricName} ${Dimensions?.[0]?.Value}`);
          const Timestamps = [StartTime ?? new Date(0), new Date(noon)];
          return { Id, Timestamps, Values: [10 ** at, 10 ** at], StatusCode: 'Complete' };
        }),
      };
    }),
  );
  expect(totals(await read())).toEqual({ delivered: 2, failed: 220, held: 22_000 });
  expect(asked).toEqual([
    'Emissor/dev Delivered delivery',
    'Emissor/dev Exhausted delivery',
    'Emissor/dev Exhausted sweep',
    'Emissor/dev Held delivery',
    'Emissor/dev Held sweep',
  ]);
});

it('asks CloudWatch again after five minutes, and at once after a failure', async () => {
  now = noon;
  let [calls, isDenied] = [0, true];
  const read = makeReadTraffic(
    stage(() => {
      calls += 1;
      if (isDenied) throw Object.assign(new Error('not allowed'), { name: 'AccessDenied' });
      return complete;
    }),
  );
  expect(await read()).toEqual({ unread: 'these AWS credentials may not do that: not allowed' });
  isDenied = false;
  await read();
  now = noon + 299_000;
  await read();
  expect(calls).toBe(2);
  now = noon + 301_000;
  await read();
  expect(calls).toBe(3);
});

it.each(['InternalError', 'PartialData', 'Forbidden', undefined])(
  'takes no metric for 0 that CloudWatch tells in part: %s',
  async StatusCode => {
    now = noon;
    const MetricDataResults = complete.MetricDataResults.with(2, { Id: 'm2', StatusCode: StatusCode as never });
    const read = makeReadTraffic(stage(() => ({ MetricDataResults })));
    expect(await read()).toEqual({ unread: `CloudWatch tells only a part: ${StatusCode ?? 'no answer'}.` });
  },
);

it('counts the lines of a local run, but of tests', async () => {
  now = noon;
  const line = (message: string, fields: object = {}, at = noon - hour) => [
    { field: '@timestamp', value: new Date(at).toISOString().replace('T', ' ').replace('Z', '') },
    { field: '@message', value: JSON.stringify({ message, deliveryId: 'evt_1', ...fields }) },
  ];
  const read = makeReadTraffic(
    localRun(command =>
      command instanceof StartQueryCommand
        ? { queryId: '1' }
        : {
            status: 'Complete',
            results: [
              line('delivery.attempt', { state: 'delivered' }),
              line('delivery.attempt', { state: 'delivered', deliveryId: 'teste_1' }),
              line('delivery.attempt', { state: 'pending' }),
              line('delivery.attempt', { state: 'failed' }),
              line('delivery.too_old'),
              line('delivery.held'),
              line('delivery.held', {}, noon - 24 * hour),
            ],
          },
    ),
  );
  expect(totals(await read())).toEqual({ delivered: 1, failed: 2, held: 1 });
});

it('tells nothing of the hours that a busy local run wrote too many lines after', async () => {
  now = noon;
  const results = Array.from({ length: 10_000 }, (_, at) => [
    { field: '@timestamp', value: new Date(noon - at * 600).toISOString().replace('T', ' ').replace('Z', '') },
    { field: '@message', value: JSON.stringify({ message: 'delivery.held', deliveryId: 'evt_1' }) },
  ]);
  const read = makeReadTraffic(
    localRun(command => (command instanceof StartQueryCommand ? { queryId: '1' } : { status: 'Complete', results })),
  );
  const hours = ['2026-11-22T10:00:00.000Z', '2026-11-22T11:00:00.000Z', '2026-11-22T12:00:00.000Z'];
  expect(await read()).toMatchObject({ hours, held: [3_999, 6_000, 1], isCutOff: true });
});

it('says of a stage that only its outputs name that nothing could be read', async () => {
  const read = makeReadTraffic(targetThat(() => ({}), { label: 'outputs.json' }));
  expect(await read()).toEqual({ unread: 'outputs.json names no stage whose metrics could be read.' });
});
