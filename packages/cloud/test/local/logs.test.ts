import {
  CloudWatchLogsClient,
  CreateLogStreamCommand,
  DescribeLogGroupsCommand,
  DescribeLogStreamsCommand,
  GetLogEventsCommand,
  GetQueryResultsCommand,
  PutLogEventsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseLogQuery } from '../../src/local/log-query.ts';
import { makeLogStore, startLogs } from '../../src/local/logs.ts';
import { forTest, settingsOf } from './sdk-client.ts';

it('keeps the latest lines of each group, and from which moment on they are complete', () => {
  let moment = 0;
  const kept = makeLogStore(2, () => moment);
  const isLine = (text: string) => text.startsWith('line');
  for (moment = 1; moment <= 5; moment += 1) kept.put('busy', `line ${moment}`);
  expect(kept.find(['busy'], isLine, 0, 9).map(({ text }) => text)).toEqual(['line 5', 'line 4']);
  expect([kept.since('busy'), kept.since('quiet')]).toEqual([4, 0]);
  expect(kept.find(['busy'], isLine, 5, 5)).toHaveLength(1);
});

const start = async () => {
  const logs = await startLogs();
  onTestFinished(logs.stop);
  return { logs, client: forTest(new CloudWatchLogsClient(settingsOf(logs.endpoint))) };
};

it.each(['"evt_1"', '/evt_1/'])('finds groups by a prefix, and lines by a text, given as %s', async pattern => {
  const { logs, client } = await start();
  logs.put('group', 'about evt_1');
  logs.put('group', 'about evt_2');
  logs.put('other', 'about evt_1');
  const { logGroups } = await client.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'gro' }));
  expect(logGroups?.map(({ logGroupName }) => logGroupName)).toEqual(['gro', 'group']);
  const now = Math.floor(Date.now() / 1_000);
  const queryString = `fields @message | filter @message like ${pattern}`;
  const query = { logGroupNames: ['group'], startTime: now - 60, endTime: now + 60, queryString };
  const { queryId } = await client.send(new StartQueryCommand(query));
  const { results } = await client.send(new GetQueryResultsCommand({ queryId }));
  expect(results?.map(row => row.find(({ field }) => field === '@message')?.value)).toEqual(['about evt_1']);
});

it('keeps streams that programs write, and pages from their latest lines back', async () => {
  const { client } = await start();
  const place = { logGroupName: 'group', logStreamName: 'a' };
  const put = (message: string) =>
    client.send(new PutLogEventsCommand({ ...place, logEvents: [{ timestamp: Date.now(), message }] }));
  const page = async (nextToken?: string) => {
    const from = { ...place, startFromHead: false, limit: 2, nextToken };
    const { events = [], nextBackwardToken } = await client.send(new GetLogEventsCommand(from));
    return { lines: events.map(({ message }) => message), next: nextBackwardToken };
  };
  await expect(put('too early')).rejects.toThrow('The specified log stream does not exist.');
  await client.send(new CreateLogStreamCommand(place));
  await expect(client.send(new CreateLogStreamCommand(place))).rejects.toThrow('already exists');
  await client.send(new CreateLogStreamCommand({ ...place, logStreamName: 'b' }));
  for (const message of ['1', '2', '3']) await put(message);
  const latest = await page();
  expect(latest.lines).toEqual(['2', '3']);
  const before = await page(latest.next);
  expect(before.lines).toEqual(['1']);
  expect(await page(before.next)).toEqual({ lines: [], next: before.next });
  const { logStreams } = await client.send(
    new DescribeLogStreamsCommand({ logGroupName: 'group', orderBy: 'LogStreamName', descending: true }),
  );
  expect(logStreams?.map(({ logStreamName }) => logStreamName)).toEqual(['b', 'a']);
});

describe('a query', () => {
  const line = JSON.stringify({ message: 'event.duplicate', account: 'acme', status: 503 });

  it.each<[string, boolean]>([
    ['fields @message | sort @timestamp desc', true],
    ['fields @message | filter account in ["acme"] | filter message in ["a", "event.duplicate"]', true],
    ['fields @message | filter account in ["bolt"] | filter message in ["event.duplicate"]', false],
    ['fields @message | filter status in ["503"] | filter @message like "acme" | sort @timestamp desc', true],
    ['fields @message | filter nothing in ["undefined"]', false],
  ])('%s', (query, expected) => {
    expect(parseLogQuery(query)(line)).toBe(expected);
    expect(parseLogQuery(query)('no JSON')).toBe(!query.includes('filter'));
  });

  it('with a filter that is not emulated is refused', () => {
    expect(() => parseLogQuery('fields @message | filter status > 500')).toThrow('not emulated');
  });
});
