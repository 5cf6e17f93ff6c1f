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
import { expect, it, onTestFinished } from 'vitest';
import { startLogs } from '../../src/local/logs.ts';
import { destroyAfterTest, settingsOf } from './sdk-client.ts';

const start = async (minKept?: number) => {
  const logs = await startLogs([], minKept);
  onTestFinished(logs.stop);
  const client = destroyAfterTest(new CloudWatchLogsClient(settingsOf(logs.endpoint)));
  const query = async (queryString: string) => {
    const now = Math.floor(Date.now() / 1_000);
    const request = { logGroupNames: ['group'], startTime: now - 60, endTime: now + 60, queryString };
    const { queryId } = await client.send(new StartQueryCommand(request));
    const { results } = await client.send(new GetQueryResultsCommand({ queryId }));
    return results?.map(row => row.find(({ field }) => field === '@message')?.value);
  };
  return { ...logs, client, query };
};

it('stores the latest lines of each log group, and reports the time of its first line', async () => {
  const { put, client, query } = await start(2);
  for (let line = 1; line <= 5; line += 1) put('group', `line ${line}`);
  put('other', 'x');
  expect(await query('fields @message')).toEqual(['line 5', 'line 4']);
  const { logGroups } = await client.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'gro' }));
  expect(logGroups?.map(({ logGroupName }) => logGroupName)).toEqual(['gro', 'group']);
});

it('stores log streams, and returns their lines in pages, latest page first', async () => {
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

it.each<[string, boolean]>([
  ['fields @message | filter @message like /event.duplicate/ | sort @timestamp desc', true],
  ['fields @message | filter @message like /a\\/b\\+c/', true],
  ['fields @message | filter account in ["acme"] | filter message in ["a", "event.duplicate"]', true],
  ['fields @message | filter account in ["bolt"] | filter message in ["event.duplicate"]', false],
  ['fields @message | filter status in ["503"] | filter @message like /acme/ | sort @timestamp desc', true],
  ['fields @message | filter absent in ["undefined"]', false],
])('matches a line with the query %s: %s', async (queryString, expected) => {
  const { put, query } = await start();
  const line = JSON.stringify({ message: 'event.duplicate', account: 'acme', status: 503, id: 'a/b+c' });
  put('group', line);
  put('group', 'no JSON');
  expect(await query(queryString)).toEqual(expected ? [line] : []);
});

it('rejects a query with a filter that is not emulated', async () => {
  const { query } = await start();
  await expect(query('fields @message | filter status > 500')).rejects.toThrow('not emulated');
});
