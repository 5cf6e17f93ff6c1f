import * as z from 'zod/mini';
import type { Item } from '../platform/aws/dynamo.ts';
import { isoTime } from '../platform/clock.ts';
import type { webhookKey } from './webhook.ts';

/*
 * A transactional outbox. One write stores a change to a webhook and its announcement for the operators' topic, so neither is stored
 * alone. The sweeper finds such items in the index `announcements` (partition key `announcementShard`, sort key `announcementAt` =
 * `<time>#<accountId>#<eventName>`), publishes the announcement and then removes it. A later change replaces an unpublished announcement.
 */

/** The only partition key value in the index, which contains only unpublished announcements. */
export const announcementShard = '0';

export const announcementIndex = 'announcements';

/** A change to a webhook that operators are notified about. */
export type Announcement = Readonly<z.infer<typeof announcement>>;

/** An item with an unpublished announcement. */
export type AnnouncedItem = Readonly<z.infer<typeof announcedItem>>;

/** Parses the announcement of an item. Returns `undefined` if the item has no announcement. */
export function parseAnnouncedItem(item: Item | undefined): AnnouncedItem | undefined {
  return announcedItem.safeParse(item).data;
}

/** Returns the announcement for a change that no attempt caused. */
export function changeWithoutAttempt(
  type: Announcement['type'],
  since: number,
  reason: Announcement['reason'],
): Announcement {
  return { type, since, reason, lastResult: null, deliveryId: null };
}

/** Returns the attributes that announce a change to a webhook. The write that stores the change must include them. */
export function announcementAttributes(
  pendingAnnouncement: Announcement,
  { accountId, eventName }: ReturnType<typeof webhookKey>,
): Item {
  const announcementAt = `${isoTime(pendingAnnouncement.since)}#${accountId}#${eventName}`;
  return { pendingAnnouncement, announcementShard, announcementAt };
}

const announcement = z.object({
  type: z.enum(['webhook.failing', 'webhook.suspended', 'webhook.reactivated', 'webhook.recovered']),
  /** The start of the announced state or, for `webhook.recovered`, of the failures. The unit is milliseconds since the epoch. */
  since: z.int(),
  /** The reason for the suspension. */
  reason: z.nullable(z.enum(['gone', 'no_success', 'operator'])),
  /** The `result` of the attempt that caused the change, if any. */
  lastResult: z.nullable(z.string()),
  /** The delivery whose attempt caused the change, if any. */
  deliveryId: z.nullable(z.string()),
});

const announcedItem = z.object({
  accountId: z.string(),
  eventName: z.string(),
  /** Undefined if no webhook is registered. The announcement is then not published. */
  webhookId: z.optional(z.string()),
  pendingAnnouncement: announcement,
});
