import * as z from 'zod/mini';
import type { Item } from '../platform/dynamodb.ts';
import type { EventName } from './webhook.ts';

/*
 * What the operators' topic is told of a webhook is written together with the change that it tells of, into the webhook's
 * own item: neither is ever stored without the other. The sweeper finds such items in the index `announcements`
 * (announcementShard, announcementAt = `<time>#<accountId>#<evento>`), publishes, and then takes out what it published.
 */

/** The one partition of the index: it holds what was not published yet. */
export const announcementShard = '0';

/** The index's name. */
export const announcementIndex = 'announcements';

const announcement = z.object({
  type: z.enum(['webhook.failing', 'webhook.suspended', 'webhook.reactivated']),
  /** Since when the webhook is what `type` says; milliseconds since the epoch. */
  since: z.int(),
  /** Why it is suspended. */
  reason: z.nullable(z.enum(['gone', 'sem_sucesso', 'operador'])),
  /** `resultado` of the attempt that led to this, where one did. */
  lastResult: z.nullable(z.string()),
});

/** What is told of a webhook. */
export type Announcement = Readonly<z.infer<typeof announcement>>;

const announcedItem = z.object({
  accountId: z.string(),
  evento: z.string(),
  /** Nothing is published of an item without one: no webhook is registered. */
  webhookId: z.optional(z.string()),
  announcementAt: z.string(),
  announcements: z.array(announcement),
});

/** An item with announcements to be published, the oldest first. */
export type AnnouncedItem = Readonly<z.infer<typeof announcedItem>>;

/** Reads what an item still has to announce; nothing, where it has nothing any more. */
export function announcedIn(item: Item | undefined): AnnouncedItem | undefined {
  return announcedItem.safeParse(item).data;
}

/** The part of an update's `SET` that adds an announcement, and its values. */
export function announcing(
  { accountId, evento }: { readonly accountId: string; readonly evento: EventName },
  added: Announcement,
  now: number,
): { readonly set: string; readonly values: Item } {
  return {
    set:
      'announcements = list_append(if_not_exists(announcements, :noAnnouncements), :announcements), ' +
      'announcementShard = :announcementShard, announcementAt = :announcementAt',
    values: {
      ':noAnnouncements': [],
      ':announcements': [added],
      ':announcementShard': announcementShard,
      ':announcementAt': `${new Date(now).toISOString()}#${accountId}#${evento}`,
    },
  };
}
