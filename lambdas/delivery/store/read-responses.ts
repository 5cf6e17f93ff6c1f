import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';
import { responseExpiry, responsePart } from './response-item.ts';

/** Returns a delivery with the responses of its records. */
export type ReadResponses = (delivery: Delivery) => Promise<Delivery>;

/**
 * Creates the response reader for table `Deliveries`. Reads are strongly consistent. The reader reads only the responses of the stored
 * records, because a frequently resent delivery has many more. It omits responses that are over 60 days old, even if their items still
 * exist.
 */
export function makeReadResponses({ dynamo, table, now }: StoreParts): ReadResponses {
  return async function readResponses(delivery) {
    const isRetained = (record: AttemptRecord) => responseExpiry(record) * 1_000 > now();
    const withItems = delivery.attempts.filter(record => record.responseId !== undefined && isRetained(record));
    const keys = withItems.map(record => ({ table, key: { id: delivery.id, part: responsePart(record) } }));
    const items = keys.length > 0 ? await batchGet(dynamo, keys) : [];
    const responses = new Map(withItems.map((record, at) => [record, items[at]?.response as string | undefined]));
    const attempts = delivery.attempts.map(record => {
      const { responseId, ...attempt } = record;
      if (!isRetained(record)) return { ...attempt, response: null };
      return responseId === undefined ? attempt : { ...attempt, response: responses.get(record) ?? null };
    });
    return { ...delivery, attempts };
  };
}
