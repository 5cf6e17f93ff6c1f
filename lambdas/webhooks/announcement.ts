import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandOutput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type Item, isConditionFailed } from '../platform/dynamo.ts';

/*
 * What the operators' topic is told of a webhook is written together with the change that it tells of, into the webhook's
 * own item: neither is ever stored without the other. The sweeper finds such items in the index `announcements`
 * (announcementShard, announcementAt = `<time>#<accountId>#<eventName>`), publishes, and then takes out what it published.
 */

/** The one partition of the index: it holds what was not published yet. */
export const announcementShard = '0';

/** The index's name. */
export const announcementIndex = 'announcements';

/** What is told of a webhook. */
export type Announcement = Readonly<z.infer<typeof announcement>>;

/** An item with announcements to be published, the oldest first. */
export type AnnouncedItem = Readonly<z.infer<typeof announcedItem>>;

/** Reads what an item still has to announce; nothing, where it has nothing any more. */
export function announcedIn(item: Item | undefined): AnnouncedItem | undefined {
  return announcedItem.safeParse(item).data;
}

/** The most announcements that a webhook keeps: an account that toggles its suspension neither fills its item nor the topic. */
export const mostAnnouncements = 5;

/** A change of a webhook that is announced. */
export interface AnnouncedChange {
  readonly table: string;
  readonly key: { readonly accountId: string; readonly eventName: string };
  /** The update expression; it begins with `SET`. */
  readonly update: string;
  readonly when: string;
  readonly names?: Record<string, string> | undefined;
  readonly values: Item;
  readonly announcement: Announcement;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Makes a change and adds its announcement, in one write. Where as many wait as are kept, the newest takes the place of the
 * last: the first failure and the latest state stay told, and a full list never refuses a change. Gives the item as it is
 * then.
 *
 * @throws {ConditionalCheckFailedException} when the change's own condition does not hold.
 */
export async function updateAnnouncing(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  change: AnnouncedChange,
): Promise<UpdateCommandOutput> {
  for (let tried = 1; ; tried++) {
    try {
      return await dynamo.send(appending(change));
    } catch (error) {
      if (!isConditionFailed(error)) throw error; // else the list is full, or the change's own condition does not hold
    }
    try {
      return await dynamo.send(replacingLast(change));
    } catch (error) {
      if (tried === tries || !isInvalid(error)) throw error; // else the list, full a moment ago, is gone by now
    }
  }
}

const announcement = z.object({
  type: z.enum(['webhook.failing', 'webhook.suspended', 'webhook.reactivated']),
  /** Since when the webhook is what `type` says; milliseconds since the epoch. */
  since: z.int(),
  /** Why it is suspended. */
  reason: z.nullable(z.enum(['gone', 'no_success', 'operator'])),
  /** `result` of the attempt that led to this, where one did. */
  lastResult: z.nullable(z.string()),
});

const announcedItem = z.object({
  accountId: z.string(),
  eventName: z.string(),
  /** Nothing is published of an item without one: no webhook is registered. */
  webhookId: z.optional(z.string()),
  announcementAt: z.string(),
  announcements: z.array(announcement),
});

function appending(change: AnnouncedChange): UpdateCommand {
  return announcing(change, {
    set: 'announcements = list_append(if_not_exists(announcements, :noAnnouncements), :announcements)',
    when: `(${change.when}) AND attribute_not_exists(${last})`,
    values: { ':noAnnouncements': [], ':announcements': [change.announcement] },
  });
}

/** In a list that is shorter by now this adds to its end. */
function replacingLast(change: AnnouncedChange): UpdateCommand {
  return announcing(change, {
    set: `${last} = :announcement`,
    when: change.when,
    values: { ':announcement': change.announcement },
  });
}

/** How often a change is tried while full lists are published and taken out. */
const tries = 3;

function isInvalid(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationException';
}

/** An item keeps its place in the index until all is published: who announces without end is not read twice in a run. */
function announcing(
  { table, key, update, names, values, now }: AnnouncedChange,
  list: { readonly set: string; readonly when: string; readonly values: Item },
): UpdateCommand {
  const place =
    'announcementShard = :announcementShard, announcementAt = if_not_exists(announcementAt, :announcementAt)';
  return new UpdateCommand({
    TableName: table,
    Key: key,
    UpdateExpression: update.replace(/^SET /, () => `SET ${list.set}, ${place}, `),
    ConditionExpression: list.when,
    ...(names && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: {
      ...values,
      ...list.values,
      ':announcementShard': announcementShard,
      ':announcementAt': `${new Date(now).toISOString()}#${key.accountId}#${key.eventName}`,
    },
    ReturnValues: 'ALL_NEW',
  });
}

const last = `announcements[${mostAnnouncements - 1}]`;
