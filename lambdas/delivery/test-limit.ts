import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { Clock } from '../platform/clock.ts';
import { type ItemAddress, isConditionFailed, readTogether } from '../platform/dynamodb.ts';
import type { EventName } from '../webhooks/webhook.ts';

/** Tests of one webhook in one window. */
const most = 10;

/** Milliseconds; a window begins with its first test. */
const windowLength = 60_000;

/** How often callers may get in each other's way before one is told to wait. */
const tries = 3;

const windowSchema = z.object({ tests: z.number(), endsAt: z.number() });

/**
 * Counts one test of a webhook, and gives the whole seconds until there may be another where the minute's ten are used up:
 * then nothing is counted.
 */
export type CountTest = (accountId: string, evento: EventName) => Promise<number | undefined>;

/** What counting stands on. */
export interface TestLimitDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`: item `testes#<accountId>#<evento>`, so that registering anew does not begin anew. */
  readonly table: string;
  readonly now: Clock;
}

/** Makes the limit of tests. */
export const makeCountTest = ({ documents, table, now }: TestLimitDependencies): CountTest => {
  /** Whether the write's condition held. */
  const write = async (address: ItemAddress, update: string, condition: string, values: Record<string, number>) => {
    try {
      await documents.send(
        new UpdateCommand({
          TableName: address.table,
          Key: address.key,
          UpdateExpression: update,
          ConditionExpression: condition,
          ExpressionAttributeValues: { ':one': 1, ...values },
          ...(update.includes('#ttl') && { ExpressionAttributeNames: { '#ttl': 'ttl' } }),
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  const addToWindow = (address: ItemAddress, moment: number) =>
    write(address, 'ADD tests :one', 'endsAt > :now AND tests < :most', { ':now': moment, ':most': most });

  const beginWindow = (address: ItemAddress, moment: number) => {
    const endsAt = moment + windowLength;
    return write(
      address,
      'SET tests = :one, endsAt = :endsAt, #ttl = :ttl',
      'attribute_not_exists(id) OR endsAt <= :now',
      { ':now': moment, ':endsAt': endsAt, ':ttl': Math.ceil(endsAt / 1_000) },
    );
  };

  return async (accountId, evento) => {
    const address = { table, key: { id: `testes#${accountId}#${evento}` } };
    for (let turn = 0; turn < tries; turn++) {
      const moment = now();
      if ((await addToWindow(address, moment)) || (await beginWindow(address, moment))) return undefined;
      const [item] = await readTogether(documents, [address]);
      const window = item && windowSchema.parse(item);
      if (window && window.tests >= most && window.endsAt > moment) return Math.ceil((window.endsAt - moment) / 1_000);
    }
    return 1;
  };
};
