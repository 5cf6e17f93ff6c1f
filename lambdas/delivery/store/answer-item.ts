import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';

/*
 * Item `<delivery's id>`, `answer#<attempt's number>#<response's id>` of table `Deliveries` is a receiver's response to an attempt that
 * does not end the delivery. So the head, which each later attempt rewrites, stays small. If an attempt ends the delivery, its response
 * stays in the head, so a delivery that succeeds at once is one item.
 *
 * A response is written before the head whose record names it. Responses without a record are never shown. They belong to an attempt
 * of which another copy was stored first, or to a process that died between both writes. A response expires 60 days after its attempt,
 * regardless of its delivery's state.
 */

/** The prefix of the sort keys of responses. */
export const answersPrefix = 'answer#';

/** Returns the sort key of the response that a record names. */
export function answerPart({ number, answerId }: Pick<AttemptRecord, 'number' | 'answerId'>): string {
  return `${answersPrefix}${number}#${answerId}`;
}

/** Returns the moment when the response to an attempt expires, in seconds since the epoch. */
export function answerExpiry({ startedAt }: Pick<AttemptRecord, 'startedAt'>): number {
  return Math.floor((Date.parse(startedAt) + answerKept) / 1_000);
}

/**
 * Splits a delivery for storage into its head, whose records name their responses, and the items of new responses. The response to the
 * latest attempt stays in the head of a delivery that has ended, unless the head lives longer than the response may. An empty response
 * needs no item, because its record shows that it is empty.
 *
 * A response's id is a hash of its content, so a write that is repeated after a lost response writes the same item. Copies of an attempt
 * share an item only if they started in the same millisecond and had the same response. 42 bits distinguish them.
 *
 * @param headExpiry - in seconds since the epoch, or `undefined` while the delivery is pending.
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

/** The retention of a receiver's response after its attempt. */
const answerKept = 60 * 24 * 60 * 60_000;
