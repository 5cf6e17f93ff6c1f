import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';

/*
 * Item `<delivery id>`, `answer#<attempt number>#<response id>` of table `Deliveries` is a receiver's response to an attempt that does not
 * end the delivery. The head, which each later attempt rewrites, therefore stays small. If an attempt ends the delivery, its response is
 * part of the head, so a delivery that succeeds at once is one item.
 *
 * A response is written before the head with its record. A response without a record is never shown. Such responses exist if another copy
 * of the attempt was stored first, or if a process died between the two writes. A response expires 60 days after its attempt, regardless
 * of the state of its delivery.
 */

/** The prefix of the sort keys of responses. */
export const answersPrefix = 'answer#';

/** Returns the sort key of the response of a record. */
export function answerPart({ number, answerId }: Pick<AttemptRecord, 'number' | 'answerId'>): string {
  return `${answersPrefix}${number}#${answerId}`;
}

/** Returns the time at which the response to an attempt expires, in seconds since the epoch. */
export function answerExpiry({ startedAt }: Pick<AttemptRecord, 'startedAt'>): number {
  return Math.floor((Date.parse(startedAt) + answerKept) / 1_000);
}

/**
 * Splits a delivery into its head and the items of new responses. In a delivery that has ended, the response to the latest attempt stays in
 * the head, unless the head expires later than the response may. An empty response needs no item, because its record shows that it is
 * empty.
 *
 * The id of a response is a hash of its content, so a repeated write creates the same item. Copies of an attempt share an item only if they
 * started in the same millisecond and have the same response. The id has 42 bits.
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

/** The retention of a receiver's response after its attempt, in milliseconds. */
const answerKept = 60 * 24 * 60 * 60_000;
