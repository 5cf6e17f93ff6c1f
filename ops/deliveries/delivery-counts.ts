import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTest } from '../../lambdas/delivery/delivery.ts';
import { listShardsOf, stateShardsOf } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import type { Registration } from './webhooks.ts';

/*
 * Deliveries are counted by the keys of the indexes alone, some 5,000 in a call, the newest first: no delivery is read. A key holds
 * when its event was accepted; the partition holds the state.
 */

/** The deliveries of a webhook that were accepted in a span. Milliseconds since the epoch; `before` is excluded. */
interface Span extends Registration {
  readonly from: number;
  readonly before: number;
}

/**
 * Reads when the deliveries of a span were accepted: all that are delivered, all that are not, and those of them that have failed.
 * `reached` is the moment back to which they are complete, where the calls end before the span does.
 */
export async function readTimes(target: Target, span: Span, mostCalls: number) {
  const { account, event } = span;
  const listed = (isDelivered: boolean) =>
    listShardsOf(account, event, isDelivered).map(shard => begin('byWebhook', shard));
  const [delivered, undelivered] = [listed(true), listed(false)];
  const first = [...delivered, ...undelivered];
  await advance(target, span, first, first.length);
  // A delivery stands in the partitions of one number of both indexes: where none is undelivered, none has failed.
  const failedShards = stateShardsOf(account, event, 'failed');
  const failed = failedShards.flatMap((shard, at) =>
    undelivered[at]?.keys.length ? [begin('undelivered', shard)] : [],
  );
  await advance(target, span, [...first, ...failed], mostCalls - first.length);
  const open = [...first, ...failed].filter(({ isAll }) => !isAll);
  const reached = open.map(({ keys }) => timeIn(keys.at(-1) ?? '~')).sort((one, other) => other - one)[0];
  const timesOf = (walks: readonly Walk[]) =>
    walks.flatMap(({ keys }) => keys.map(timeIn)).filter(time => reached === undefined || time > reached);
  return { delivered: timesOf(delivered), undelivered: timesOf(undelivered), failed: timesOf(failed), reached };
}

/** Counts the deliveries of a span that have failed, or are held, without tests: as many as a call to each partition finds. */
export async function countInState(target: Target, span: Span, state: 'failed' | 'held') {
  const walks = stateShardsOf(span.account, span.event, state).map(shard => begin('undelivered', shard));
  await advance(target, span, walks, walks.length);
  const count = walks.flatMap(({ keys }) => keys).filter(key => !isTest({ id: key.slice(timeLength + 1) })).length;
  return { count, isCutOff: walks.some(({ isAll }) => !isAll) };
}

/** The reading of one partition of an index, from its newest key on. */
interface Walk {
  readonly index: keyof typeof partitionKeys;
  readonly shard: string;
  readonly keys: string[];
  next: Item | undefined;
  isAll: boolean;
}

const partitionKeys = { byWebhook: 'listShard', undelivered: 'stateShard' } as const;

function begin(index: Walk['index'], shard: string): Walk {
  return { index, shard, keys: [], next: undefined, isAll: false };
}

/** Reads further pages, first of the partitions that were read least far back. */
async function advance(
  target: Target,
  { from, before }: Span,
  walks: readonly Walk[],
  mostCalls: number,
): Promise<void> {
  for (let left = mostCalls; left > 0; ) {
    const open = walks
      .filter(({ isAll }) => !isAll)
      .toSorted((one, other) => (frontier(one) < frontier(other) ? 1 : -1));
    const some = open.slice(0, left);
    if (some.length === 0) return;
    await Promise.all(some.map(readPage));
    left -= some.length;
  }

  async function readPage(walk: Walk): Promise<void> {
    const { Items = [], LastEvaluatedKey } = await target.dynamo(
      new QueryCommand({
        TableName: requireOutput(target, 'DeliveriesTable'),
        IndexName: walk.index,
        KeyConditionExpression: '#shard = :shard AND listKey BETWEEN :first AND :last',
        ExpressionAttributeNames: { '#shard': partitionKeys[walk.index] },
        ExpressionAttributeValues: { ':shard': walk.shard, ':first': isoTime(from), ':last': isoTime(before) },
        ProjectionExpression: 'listKey',
        ScanIndexForward: false,
        ExclusiveStartKey: walk.next,
      }),
    );
    for (const { listKey } of Items) walk.keys.push(String(listKey));
    walk.next = LastEvaluatedKey;
    walk.isAll = LastEvaluatedKey === undefined;
  }
}

function frontier({ keys }: Walk): string {
  return keys.at(-1) ?? '~';
}

function timeIn(listKey: string): number {
  return listKey === '~' ? Number.POSITIVE_INFINITY : Date.parse(listKey.slice(0, timeLength));
}

/** The length of the time that a key begins with. */
const timeLength = isoTime(0).length;
