import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';
import { answerExpiry, answerPart } from './answer-item.ts';

/** Returns a delivery with the responses of its records. */
export type ReadAnswers = (delivery: Delivery) => Promise<Delivery>;

/**
 * Creates the reader of responses in table `Deliveries`. Reads are consistent. It reads only the responses of the stored records, because a
 * delivery that was resent often has many more. It omits responses that are over 60 days old, even if their items still exist.
 */
export function makeReadAnswers({ dynamo, table, now }: StoreParts): ReadAnswers {
  return async function readAnswers(delivery) {
    const isRetained = (record: AttemptRecord) => answerExpiry(record) * 1_000 > now();
    const withItems = delivery.attempts.filter(record => record.answerId !== undefined && isRetained(record));
    const keys = withItems.map(record => ({ table, key: { id: delivery.id, part: answerPart(record) } }));
    const answers = keys.length > 0 ? await batchGet(dynamo, keys) : [];
    const responses = new Map(withItems.map((record, at) => [record, answers[at]?.response as string | undefined]));
    const attempts = delivery.attempts.map(record => {
      const { answerId, ...attempt } = record;
      if (!isRetained(record)) return { ...attempt, response: null };
      return answerId === undefined ? attempt : { ...attempt, response: responses.get(record) ?? null };
    });
    return { ...delivery, attempts };
  };
}
