import * as z from 'zod/mini';
import type { Dynamo, Item } from '../platform/aws/dynamo.ts';
import { attribute, type Expression, expression, type ItemUpdate, updateItem } from '../platform/aws/update-item.ts';
import { isoTime } from '../platform/clock.ts';

/*
 * A transactional outbox: an announcement for the operators' topic is written into the webhook's own item, in the same write
 * as the change that it announces, so neither is ever stored without the other. The sweeper finds such items in the index
 * `announcements` (announcementShard, announcementAt = `<time>#<accountId>#<eventName>`), publishes the announcements and then
 * removes them.
 */

/** The one partition of the index, which holds only what is not published yet. */
export const announcementShard = '0';

export const announcementIndex = 'announcements';

/** A change of a webhook that operators are told about. */
export type Announcement = Readonly<z.infer<typeof announcement>>;

/** An item with announcements to publish, the oldest first. */
export type AnnouncedItem = Readonly<z.infer<typeof announcedItem>>;

/** Reads the announcements of an item; `undefined` when it has none. */
export function parseAnnouncedItem(item: Item | undefined): AnnouncedItem | undefined {
  return announcedItem.safeParse(item).data;
}

/** Returns the announcement of a change that no attempt caused. */
export function unattempted(type: Announcement['type'], since: number, reason: Announcement['reason']): Announcement {
  return { type, since, reason, lastResult: null, deliveryId: null };
}

/**
 * The most announcements that a webhook holds: an account that toggles its suspension can fill neither the item nor the
 * topic.
 */
export const mostAnnouncements = 5;

/**
 * Returns what an item keeps of its announcements when its webhook is removed: all of them, each with the id of the registration
 * that it is of, since the next registration takes the item over.
 */
export function keptAnnouncements({ webhookId, announcements, announcementShard, announcementAt }: Item): Item {
  if (announcements === undefined) return {};
  const kept = (announcements as readonly Announcement[]).map(untold => ({ webhookId, ...untold }));
  return { announcements: kept, announcementShard, announcementAt };
}

/** Returns the condition that an item holds these announcements, and no others. dynalite compares no lists. */
export function holdsAnnouncements(announcements: unknown): Expression {
  if (announcements === undefined) return expression`attribute_not_exists(announcements)`;
  const held = announcements as readonly Announcement[];
  const next = attribute(`announcements[${held.length}]`);
  return held.reduce(
    (all, announcement, at) => expression`${all} AND ${holdsAnnouncement(announcement, at)}`,
    expression`attribute_exists(announcements) AND attribute_not_exists(${next})`,
  );
}

/** Returns the condition that an announcement stands at this place of the list. */
export function holdsAnnouncement({ type, since, reason }: Announcement, at: number): Expression {
  const place = attribute(`announcements[${at}]`);
  return expression`${place}.type = ${type} AND ${place}.since = ${since} AND ${place}.reason = ${reason}`;
}

/** A conditional update of an item in table `Webhooks`. */
export interface WebhookUpdate {
  readonly table: string;
  readonly key: { readonly accountId: string; readonly eventName: string };
  /** Attributes with their new values; `undefined` removes. */
  readonly set: Item;
  readonly when: Expression;
  readonly isOwn?: ItemUpdate['isOwn'];
  readonly announcement?: Announcement | undefined;
  /** The moment when it is announced, in milliseconds since the epoch; by default the announcement's `since`. */
  readonly announcedAt?: number;
}

/**
 * Updates a webhook and adds the announcement, if there is one, in the same write. Returns the item after that; `undefined` when
 * the condition does not hold.
 */
export function updateWebhook(
  dynamo: Dynamo,
  { announcement, announcedAt = announcement?.since ?? 0, ...change }: WebhookUpdate,
): Promise<Item | undefined> {
  return announcement
    ? updateAnnouncing(dynamo, { ...change, announcement, announcedAt })
    : updateItem(dynamo, change, { ...change, returns: 'ALL_NEW' });
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
  /** The registration that it is of, where that is removed. @default - the item's */
  webhookId: z.optional(z.string()),
});

const announcedItem = z.object({
  accountId: z.string(),
  eventName: z.string(),
  /** Without one no webhook is registered, and only what names a removed one is published. */
  webhookId: z.optional(z.string()),
  announcementAt: z.string(),
  announcements: z.array(announcement),
});

type AnnouncedUpdate = WebhookUpdate & { readonly announcement: Announcement; readonly announcedAt: number };

/**
 * Adds the announcement to the list. When the list is full, the newest announcement replaces the last one: the first failure and
 * the latest state stay, and a full list never refuses a change.
 */
async function updateAnnouncing(dynamo: Dynamo, change: AnnouncedUpdate): Promise<Item | undefined> {
  for (let tries = 1; ; tries++) {
    const appended = await append(dynamo, change);
    if (appended) return appended; // otherwise the list is full, or the change's own condition does not hold
    try {
      return await replaceLast(dynamo, change);
    } catch (error) {
      if (tries === maxTries || !isInvalid(error)) throw error; // otherwise the full list was removed meanwhile
    }
  }
}

function append(dynamo: Dynamo, change: AnnouncedUpdate): Promise<Item | undefined> {
  const list = expression`list_append(if_not_exists(announcements, ${[]}), ${[change.announcement]})`;
  return updateItem(dynamo, change, {
    set: { ...change.set, ...indexKeys(change), announcements: list },
    when: expression`(${change.when}) AND attribute_not_exists(${attribute(last)})`,
    returns: 'ALL_NEW',
  });
}

/** Replaces the last announcement of a full list. In a list that has become shorter this appends. */
function replaceLast(dynamo: Dynamo, change: AnnouncedUpdate): Promise<Item | undefined> {
  return updateItem(dynamo, change, {
    set: { ...change.set, ...indexKeys(change), [last]: change.announcement },
    when: change.when,
    returns: 'ALL_NEW',
  });
}

const last = `announcements[${mostAnnouncements - 1}]`;

/** Returns the place in the index. An item keeps it until all is published, so that a sweep does not read it twice. */
function indexKeys({ key, announcedAt }: AnnouncedUpdate): Item {
  const announcementAt = `${isoTime(announcedAt)}#${key.accountId}#${key.eventName}`;
  return { announcementShard, announcementAt: expression`if_not_exists(announcementAt, ${announcementAt})` };
}

/** The most times that a change is tried while the sweeper publishes and removes a full list. */
const maxTries = 3;

function isInvalid(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationException';
}
