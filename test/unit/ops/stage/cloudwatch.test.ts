import { startLogs } from '@emissor/cloud/logs';
import { afterAll, expect, it } from 'vitest';
import { noProgress } from '../../../../ops/command-line/terminal.ts';
import { openEventLog } from '../../../../ops/stage/cloudwatch.ts';
import { makeTarget } from '../../../../ops/stage/target.ts';
import { connectTo } from '../a-stage.ts';

const logs = await startLogs();
afterAll(() => logs.stop());

const openLog = (interruption?: AbortSignal) => {
  const outputs = { LogsEndpoint: logs.endpoint, Region: 'us-east-1', DeliveryLogGroups: 'first,retry' };
  return openEventLog(makeTarget({ label: 'the test', outputs, unreachable: '' }), interruption);
};

const put = (group: string, fields: object) => logs.put(group, JSON.stringify(fields));

it('finds the lines about an id in the stage’s log groups, newest first', async () => {
  put('first', { message: 'event.without_webhook', deliveryId: 'evt_1' });
  put('first', { message: 'event.duplicate', deliveryId: 'evt_2' });
  logs.put('first', 'evt_1: a line that is no JSON');
  for (const group of ['retry', 'other']) put(group, { message: 'delivery.attempt', deliveryId: 'evt_1' });
  const lines = await openLog().find('evt_1', await openLog().retainedSince(), noProgress);
  expect(lines.map(({ fields }) => fields.message)).toEqual(['delivery.attempt', 'event.without_webhook']);
});

it.each(['', '<', 'x/ | stats count()', 'a b', 'evt_1.*', 'a\\', 'a\n', 'x'.repeat(129)])(
  'rejects an id that could change the query: %j',
  async id => {
    await expect(openLog().find(id, 0, noProgress)).rejects.toThrow(/^Invalid id/);
  },
);

it('stops an interrupted search', async () => {
  const search = openLog(AbortSignal.abort(new Error('interrupted'))).find('evt_1', 0, noProgress);
  await expect(search).rejects.toThrow('interrupted');
});

it('finds lines by their fields, up to a limit', async () => {
  const log = openLog();
  const since = await log.retainedSince();
  for (const message of ['a.b', 'c.d', 'e.f']) put('first', { message, account: 'acme' });
  put('first', { message: 'a.b', account: 'bolt' });
  const found = async (limit: number) => {
    const lines = await log.filter({ account: ['acme'], message: ['a.b', 'c.d'] }, since, limit, noProgress);
    return lines.map(({ fields }) => fields.message);
  };
  expect(await found(10)).toEqual(['c.d', 'a.b']);
  expect(await found(1)).toEqual(['c.d']);
});

it('polls a search every 500 ms, and ends its range at the target’s time', async () => {
  const responses = [
    { status: 'Scheduled' },
    { status: 'Running', statistics: { recordsScanned: 12 } },
    { status: 'Complete', results: [] },
  ];
  const requests: object[] = [];
  const connect = connectTo(({ input }: { readonly input: object }) => {
    requests.push(input);
    return 'queryString' in input ? { queryId: 'q1' } : responses.shift();
  });
  const [waits, shown]: [number[], string[]] = [[], []];
  const clock = { now: () => Date.parse('2026-11-22T12:00:00.400Z') };
  const pause = async (milliseconds: number) => void waits.push(milliseconds);
  const target = { outputs: { DeliveryLogGroups: 'first,retry' }, connect, clock, pause } as never;
  expect(await openEventLog(target).find('evt_1', 0, text => shown.push(text))).toEqual([]);
  expect(waits).toEqual([500, 500]);
  expect(shown.at(-1)).toBe('Searching the log: 12 lines so far');
  const endTime = Date.parse('2026-11-22T12:00:01Z') / 1_000;
  expect(requests[0]).toMatchObject({ logGroupNames: ['first', 'retry'], startTime: 0, endTime });
  expect(requests.slice(1)).toEqual([{ queryId: 'q1' }, { queryId: 'q1' }, { queryId: 'q1' }]);
});
