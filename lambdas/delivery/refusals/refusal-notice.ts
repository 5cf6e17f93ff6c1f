import * as z from 'zod/mini';

/*
 * The notices on the topic of refused events: one for each event that was refused and, where a sender has more of them in a
 * minute than are told one by one, one of how many were kept back. A copy of an event that tells
 * something else is dropped and told the same way, though it is no dead letter. Publishers read them: the schemas are part of the
 * interface. Of a refused message they hold the publisher's own `id` and nothing else.
 */

/** The reason why an event was refused. */
export const refusalReason = z.enum(['malformed', 'unknown_event', 'id_reused']);

/** A notice of one refused event. */
export const refusalNotice = z.object({
  /** The id that SQS returned to the publisher when it took the message. */
  messageId: z.string(),
  /** The publisher's own `id`, cut to 128 characters; null where the message has none that is text. */
  id: z.nullable(z.string()),
  /** The sender: `SenderId` of SQS. */
  sender: z.string(),
  reason: refusalReason,
  /** The mistake that is to be mended. */
  detail: z.string(),
});

/** A notice of how many refused events of a principal were not told one by one. */
export const suppressedRefusals = z.object({
  /** The principal: `SenderId` of SQS up to the first colon, which is without the name of a role's session. */
  sender: z.string(),
  reason: refusalReason,
  suppressed: z.int().check(z.positive()),
  /** The minute in which they were refused: RFC 3339, UTC. */
  since: z.string(),
  until: z.string(),
});

export type RefusalNotice = Readonly<z.infer<typeof refusalNotice>>;

/** A notice of those that were kept back. */
export type SuppressedRefusals = Readonly<z.infer<typeof suppressedRefusals>>;

export type RefusalReason = z.infer<typeof refusalReason>;

/** Returns the `id` of a notice: the first 128 characters, not UTF-16 units, of the publisher's own. */
export function noticedId(publisherId: string | undefined): string | null {
  if (publisherId === undefined) return null;
  return [...publisherId.slice(0, 2 * longestId)].slice(0, longestId).join('');
}

/** Returns the principal of a `SenderId`, which ends in the name of the session where it is a role's: `AROA…:session`. */
export function principalOf(sender: string): string {
  return sender.split(':', 1)[0] ?? '';
}

/** Characters of an `id`: as many as an event's may have. */
const longestId = 128;
