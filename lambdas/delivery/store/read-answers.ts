import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';
import { answerExpiry, answerPart } from './answer-item.ts';

/** Returns a delivery with the responses that its records name. */
export type ReadAnswers = (delivery: Delivery) => Promise<Delivery>;

/**
 * Creates the reader of responses in table `Deliveries`. It reads consistently. It reads only the responses that records name, because
 * a delivery that is resent often has many more. It omits a response that is over 60 days old, even if the item still exists.
 */
export function makeReadAnswers({ dynamo, table, now }: StoreParts): ReadAnswers {
  return async function readAnswers(delivery) {
    const isKept = (record: AttemptRecord) => answerExpiry(record) * 1_000 > now();
    const named = delivery.attempts.filter(record => record.answerId !== undefined && isKept(record));
    const keys = named.map(record => ({ table, key: { id: delivery.id, part: answerPart(record) } }));
    const answers = keys.length > 0 ? await batchGet(dynamo, keys) : [];
    const responses = new Map(named.map((record, at) => [record, answers[at]?.response as string | undefined]));
    const attempts = delivery.attempts.map(record => {
      const { answerId, ...attempt } = record;
      if (!isKept(record)) return { ...attempt, response: null };
      return answerId === undefined ? attempt : { ...attempt, response: responses.get(record) ?? null };
    });
    return { ...delivery, attempts };
  };
}
