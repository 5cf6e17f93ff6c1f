import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { AttemptRecord, Delivery } from '../delivery.ts';

/*
 * Item `<delivery id>`, `answer#<attempt number>#<response id>` in table `Deliveries` contains a receiver's response to an attempt that does
 * not end the delivery. The head, which each later attempt rewrites, therefore stays small. If an attempt ends the delivery, its response is
 * part of the head, so a delivery that succeeds at once is one item.
 *
 * A response is written before the head that contains its record. A response without a record is never shown. Such responses exist if another
 * copy of the attempt was stored first, or if a process died between the two writes. A response expires 60 days after its attempt, regardless
 * of the state of its delivery.
 */

export const responsesPrefix = 'answer#';

/** Returns the sort key of a record's response. */
export function responsePart({ number, responseId }: Pick<AttemptRecord, 'number' | 'responseId'>): string {
  return `${responsesPrefix}${number}#${responseId}`;
}

/** Returns the time at which the response to an attempt expires, in seconds since the epoch. */
export function responseExpiry({ startedAt }: Pick<AttemptRecord, 'startedAt'>): number {
  return Math.floor((Date.parse(startedAt) + responseRetention) / 1_000);
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
export function splitResponses(delivery: Delivery, headExpiry: number | undefined): SplitDelivery {
  const responses: Item[] = [];
  const { id } = delivery;
  const attempts = delivery.attempts.map((record, at, { length }) => {
    const { number, response } = record;
    const ttl = responseExpiry(record);
    const staysInHead = at === length - 1 && headExpiry !== undefined && headExpiry <= ttl;
    if (!response || staysInHead) return record;
    const responseId = hash('sha256', JSON.stringify([id, record]), 'base64url').slice(0, 7);
    responses.push({ id, part: responsePart({ number, responseId }), response, ttl });
    return { ...record, response: null, responseId };
  });
  return { head: { ...delivery, attempts }, responses };
}

interface SplitDelivery {
  readonly head: Delivery;
  readonly responses: readonly Item[];
}

/** The retention of a receiver's response after its attempt, in milliseconds. */
const responseRetention = 60 * 24 * 60 * 60_000;
