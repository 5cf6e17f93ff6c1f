import * as z from 'zod/mini';
import type { Item } from '../platform/aws/dynamo.ts';
import { isoTime } from '../platform/clock.ts';
import type { webhookKey } from './webhook.ts';

/*
 * A transactional outbox: an announcement for the operators' topic is written into the webhook's own item, in the same write
 * as the change that it announces, so neither is ever stored without the other. The sweeper finds such items in the index
 * `announcements` (announcementShard, announcementAt = `<time>#<accountId>#<eventName>`), publishes the announcement and then
 * removes it. A later change replaces an announcement that is not published yet.
 */

/** The one partition of the index, which holds only what is not published yet. */
export const announcementShard = '0';

export const announcementIndex = 'announcements';

/** A change of a webhook that operators are told about. */
export type Announcement = Readonly<z.infer<typeof announcement>>;

/** A webhook's item with an announcement to publish. */
export type AnnouncedItem = Readonly<z.infer<typeof announcedItem>>;

/** Reads the announcement of an item; `undefined` when it has none. */
export function parseAnnouncedItem(item: Item | undefined): AnnouncedItem | undefined {
  return announcedItem.safeParse(item).data;
}

/** Returns the announcement of a change that no attempt caused. */
export function unattempted(type: Announcement['type'], since: number, reason: Announcement['reason']): Announcement {
  return { type, since, reason, lastResult: null, deliveryId: null };
}

/** Returns the attributes that have a change of a webhook announced. They belong in the write of the change. */
export function announcing(unannounced: Announcement, { accountId, eventName }: ReturnType<typeof webhookKey>): Item {
  const announcementAt = `${isoTime(unannounced.since)}#${accountId}#${eventName}`;
  return { unannounced, announcementShard, announcementAt };
}

const announcement = z.object({
  type: z.enum(['webhook.failing', 'webhook.suspended', 'webhook.reactivated', 'webhook.recovered']),
  /** The moment when the state began that `type` names, or that `webhook.recovered` ended; milliseconds since the epoch. */
  since: z.int(),
  /** The reason why it is suspended. */
  reason: z.nullable(z.enum(['gone', 'no_success', 'operator'])),
  /** `result` of the attempt that caused it, if one did. */
  lastResult: z.nullable(z.string()),
  /** The delivery whose attempt caused it, if one did. */
  deliveryId: z.nullable(z.string()),
});

const announcedItem = z.object({
  accountId: z.string(),
  eventName: z.string(),
  /** Without one no webhook is registered, and nothing is published. */
  webhookId: z.optional(z.string()),
  unannounced: announcement,
});
