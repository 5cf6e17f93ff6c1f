import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { contentsOfStateShard } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { findLate } from './late-deliveries.ts';

/** The findings of a bounded look at the deliveries. */
export type DeliveriesView = Awaited<ReturnType<typeof readDeliveries>>;

/** Counts failed and held deliveries, as far as ten pages of some 5,000 go, and finds those that are late. */
export async function readDeliveries(target: Target, now: number) {
  const [counted, late] = await Promise.all([countEnded(target), findLate(target, now)]);
  return { ...counted, late };
}

async function countEnded(target: Target) {
  const dynamo = target.dynamo;
  const counts = new Map<string, Ended>();
  let [looked, from]: [number, Item | undefined] = [0, undefined];
  for (let page = 0; page < mostPages; page++) {
    const answer: ScanCommandOutput = await dynamo(
      new ScanCommand({
        TableName: requireOutput(target, 'DeliveriesTable'),
        IndexName: 'undelivered',
        ProjectionExpression: 'stateShard',
        ...(from && { ExclusiveStartKey: from }),
      }),
    );
    for (const { stateShard } of answer.Items ?? []) {
      const { accountId: account, eventName: event, state } = contentsOfStateShard(stateShard);
      if (state !== 'failed' && state !== 'held') continue;
      const key = `${account} ${event} ${state}`;
      counts.set(key, { account, event, state, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    looked += answer.Items?.length ?? 0;
    from = answer.LastEvaluatedKey;
    if (!from) break;
  }
  const ended = [...counts.values()].sort((one, other) => other.count - one.count);
  const those = (state: Ended['state']) => ended.filter(found => found.state === state);
  return { looked, isCutOff: from !== undefined, failed: those('failed'), held: those('held') };
}

interface Ended {
  readonly account: string;
  readonly event: string;
  readonly state: 'failed' | 'held';
  readonly count: number;
}

/** Pages of the index `undelivered` that are counted. */
const mostPages = 10;
