import * as z from 'zod/mini';

/*
 * The notices on the topic for rejected events. Publishers read notices, so the schema is part of the public interface. A notice contains
 * only the publisher's `id` of the message. A dropped copy of an event with different fields causes a notice, but no dead-letter message.
 */

const rejectionReason = z.enum(['malformed', 'unknown_event', 'id_reused']);

export const rejectionNotice = z.object({
  /** The message id that SQS returned to the publisher. */
  messageId: z.string(),
  /** The publisher's own `id`, truncated to 128 characters, or null if it is missing or not a string. */
  id: z.nullable(z.string()),
  /** The SQS `SenderId` of the message. */
  sender: z.string(),
  reason: rejectionReason,
  /** The problem to fix. */
  detail: z.string(),
});

export type RejectionNotice = Readonly<z.infer<typeof rejectionNotice>>;

export type RejectionReason = z.infer<typeof rejectionReason>;

/** Returns the `id` of a notice, which is the first 128 code points of the publisher's `id`. */
export function noticeId(publisherId: string | undefined): string | null {
  if (publisherId === undefined) return null;
  return [...publisherId.slice(0, 2 * maxIdLength)].slice(0, maxIdLength).join('');
}

/** The maximum length of an `id` in code points, as for the `id` of an event. */
const maxIdLength = 128;
