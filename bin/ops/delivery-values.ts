import { InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';

/** The id of a delivery: its `webhook-id` header. */
export function deliveryId(value: string): string {
  if (isDeliveryId(value)) return value;
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  throw new InvalidArgumentError('It must be a webhook-id: "evt_" and 27, or "teste_" and 22 letters or digits.');
}

/** The id that a queue gave a message. */
export function messageId(value: string): string {
  if (isMessageId(value)) return value;
  throw new InvalidArgumentError('It must be a message id: 1 to 128 letters, digits, "_" or "-".');
}

/** What an event can be asked for by: its delivery's id, or the id of its message. */
export function deliveryOrMessageId(value: string): string {
  if (isDeliveryId(value) || (isMessageId(value) && !/^(?:evt|teste)_/.test(value))) return value;
  throw new InvalidArgumentError(
    'It must be a webhook-id ("evt_" and 27 letters or digits) or a message id (letters, digits, "_" or "-").',
  );
}

/** The publisher's own id of an event, counted in characters as the queue message counts it. */
export function publishersId(value: string): string {
  if (value !== '' && [...value].length <= 128) return value;
  throw new InvalidArgumentError('It must be 1 to 128 characters.');
}

/** The name that an event was published under: it may be one that Emissor does not know. */
export function publishedName(value: string): string {
  if (value !== '' && value.length <= 128) return value;
  throw new InvalidArgumentError('It must be the name that the event was published under, such as demanda.criada.');
}

/** A reader of moments: RFC 3339 with `Z` or an offset, or how long ago it was. Milliseconds since the epoch. */
export function momentBefore(now: () => number = Date.now): (value: string) => number {
  return function readMoment(value) {
    if (timestamp.safeParse(value).success) return Date.parse(value);
    const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
    const ago = Number(count) * (unitMilliseconds[unit] ?? Number.NaN);
    if (count !== '' && ago <= longestAgo) return now() - ago;
    throw new InvalidArgumentError(
      'It must be a time with "Z" or an offset, such as 2026-11-21T09:30:00Z, or how long ago it was, such as 90m, 2h or 7d.',
    );
  };
}

function isMessageId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}

const timestamp = z.iso.datetime({ offset: true });

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Nothing is kept for longer than logs can be: ten years. In milliseconds. */
const longestAgo = 3_653 * 86_400_000;
