import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';

/*
 * Table `Deliveries`, items `<delivery's id>`, `answer#<attempt's number>#<answer's id>`: what a receiver answered an attempt
 * with, if the delivery goes on after it. So the head, which each later attempt rewrites, stays small. If an attempt
 * ends the delivery, its answer stays in the head: a delivery that succeeds at once is one item.
 *
 * An answer is written before the head whose record names it. What no record names is never shown: the answer of an attempt
 * whose copy was stored first, or of a process that died between both writes. Sixty days after its attempt an answer is gone,
 * whatever becomes of its delivery.
 */

/** The beginning of the sort keys of answers. */
export const answersPrefix = 'answer#';

/** The sort key of the answer that a record names. */
export function answerPart({ number, answerId }: Pick<AttemptRecord, 'number' | 'answerId'>): string {
  return `${answersPrefix}${number}#${answerId}`;
}

/** The moment, in seconds since the epoch, from which the answer to an attempt is gone. */
export function answerExpiry({ startedAt }: Pick<AttemptRecord, 'startedAt'>): number {
  return Math.floor((Date.parse(startedAt) + answerKept) / 1_000);
}

/**
 * Parts a delivery that is to be stored into its head, whose records name their answers, and the items of those answers that
 * have none yet. The answer to the latest attempt stays in the head of a delivery that has ended, unless the head is kept for
 * longer than the answer may be. An empty answer needs no item: its record shows it.
 *
 * An answer's id comes of what it says: what is written again, as after a lost answer of the store, is the same item. Copies
 * of an attempt share one only if they began in the same millisecond and were answered alike. 42 bits distinguish them.
 *
 * @param headExpiry - in seconds since the epoch; none while the delivery is pending.
 */
export function partAnswers(delivery: Delivery, headExpiry: number | undefined): PartedDelivery {
  const answers: Item[] = [];
  const { id } = delivery;
  const attempts = delivery.attempts.map((record, at, { length }) => {
    const { number, response } = record;
    const ttl = answerExpiry(record);
    const mayStay = at === length - 1 && headExpiry !== undefined && headExpiry <= ttl;
    if (!response || mayStay) return record;
    const answerId = hash('sha256', JSON.stringify([id, record]), 'base64url').slice(0, 7);
    answers.push({ id, part: answerPart({ number, answerId }), response, ttl });
    return { ...record, response: null, answerId };
  });
  return { head: { ...delivery, attempts }, answers };
}

interface PartedDelivery {
  readonly head: Delivery;
  readonly answers: readonly Item[];
}

/** A receiver's answer is kept for this long after its attempt. */
const answerKept = 60 * 24 * 60 * 60_000;
