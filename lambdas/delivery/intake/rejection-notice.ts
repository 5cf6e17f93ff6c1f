import * as z from 'zod/mini';

/*
 * The notices on the topic of refused events. A copy of an event with other fields is dropped and has a notice, though it is no
 * dead letter. Publishers read notices: the schema is part of the interface. Of a message they hold the publisher's own `id` only.
 */

/** The reason why an event was refused. */
const refusalReason = z.enum(['malformed', 'unknown_event', 'id_reused']);

/** A notice of one refused event. */
export const rejectionNotice = z.object({
  /** The id that SQS returned to the publisher when it took the message. */
  messageId: z.string(),
  /** The publisher's own `id`, cut to 128 characters; null if the message has none that is text. */
  id: z.nullable(z.string()),
  /** The sender: `SenderId` of SQS. */
  sender: z.string(),
  reason: refusalReason,
  /** The mistake that is to be fixed. */
  detail: z.string(),
});

export type RejectionNotice = Readonly<z.infer<typeof rejectionNotice>>;

export type RefusalReason = z.infer<typeof refusalReason>;

/** Returns the `id` of a notice: the first 128 characters, not UTF-16 units, of the publisher's own. */
export function noticedId(publisherId: string | undefined): string | null {
  if (publisherId === undefined) return null;
  return [...publisherId.slice(0, 2 * maxIdLength)].slice(0, maxIdLength).join('');
}

/** Characters of an `id`: as many as an event's may have. */
const maxIdLength = 128;
