import { batchGet } from '../platform/aws/batch-get.ts';
import type { Dynamo } from '../platform/aws/dynamo.ts';
import type { Clock } from '../platform/clock.ts';
import { EVENT_NAMES, type EventName } from './webhook.ts';

/** Returns the id of an account's events without a webhook in table `Deliveries`. Delivery owns the item, and alone writes it. */
export function withoutWebhookId(accountId: string): string {
  return `without-webhook#${accountId}`;
}

/** The time for which the latest event without a webhook is told of, in milliseconds. */
export const toldFor = 30 * 24 * 60 * 60_000;

/** Reads when each event of an account last came without a webhook, in milliseconds since the epoch: by name, the latest 30 days. */
export type ReadWithoutWebhook = (accountId: string) => Promise<ReadonlyMap<EventName, number>>;

/** Makes the reader over table `Deliveries`. */
export function makeReadWithoutWebhook({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Dynamo;
  readonly table: string;
  readonly now: Clock;
}): ReadWithoutWebhook {
  return async function readWithoutWebhook(accountId) {
    const key = { id: withoutWebhookId(accountId), part: 'head' }; // as delivery's `headKey`
    const [item = {}] = await batchGet(dynamo, [{ table, key }]);
    const oldest = now() - toldFor;
    const told = EVENT_NAMES.toSorted().map(eventName => [eventName, Number(item[eventName] ?? 0)] as const);
    return new Map(told.filter(([, moment]) => moment > oldest));
  };
}
