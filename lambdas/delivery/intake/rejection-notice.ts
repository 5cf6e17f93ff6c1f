import * as z from 'zod/mini';

/*
 * The notices on the topic of rejected events. A copy of an event with other fields is dropped with a notice, but without a dead-letter
 * message. Publishers read notices, so the schema is part of the interface. Of the message, a notice contains only the publisher's `id`.
 */

/** The reason why an event was rejected. */
const refusalReason = z.enum(['malformed', 'unknown_event', 'id_reused']);

/** A notice of one rejected event. */
export const rejectionNotice = z.object({
  /** The id that SQS returned to the publisher for the message. */
  messageId: z.string(),
  /** The publisher's own `id`, truncated to 128 characters, or null if the message has no `id` that is text. */
  id: z.nullable(z.string()),
  /** The sender, which is `SenderId` of SQS. */
  sender: z.string(),
  reason: refusalReason,
  /** The mistake to fix. */
  detail: z.string(),
});

export type RejectionNotice = Readonly<z.infer<typeof rejectionNotice>>;

export type RefusalReason = z.infer<typeof refusalReason>;

/** Returns the `id` of a notice, which is the first 128 characters (not UTF-16 units) of the publisher's own. */
export function noticedId(publisherId: string | undefined): string | null {
  if (publisherId === undefined) return null;
  return [...publisherId.slice(0, 2 * maxIdLength)].slice(0, maxIdLength).join('');
}

/** The maximum length of an `id` in characters, the same as for an event's `id`. */
const maxIdLength = 128;
