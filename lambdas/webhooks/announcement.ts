import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandOutput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { isoTime } from '../platform/clock.ts';
import { conditionalWrite, type Item, isConditionFailed } from '../platform/dynamo.ts';

/*
 * A transactional outbox: an announcement for the operators' topic is written into the webhook's own item, in the same write
 * as the change that it announces, so neither is ever stored without the other. The sweeper finds such items in the index
 * `announcements` (announcementShard, announcementAt = `<time>#<accountId>#<eventName>`), publishes the announcements and then
 * removes them.
 */

/** The one partition of the index, which holds only what is not published yet. */
export const announcementShard = '0';

/** The index's name. */
export const announcementIndex = 'announcements';

/** A change of a webhook that operators are told about. */
export type Announcement = Readonly<z.infer<typeof announcement>>;

/** An item with announcements to publish, the oldest first. */
export type AnnouncedItem = Readonly<z.infer<typeof announcedItem>>;

/** Reads the announcements of an item; `undefined` when it has none. */
export function parseAnnouncedItem(item: Item | undefined): AnnouncedItem | undefined {
  return announcedItem.safeParse(item).data;
}

/**
 * The most announcements that a webhook holds: an account that toggles its suspension can fill neither the item nor the
 * topic.
 */
export const mostAnnouncements = 5;

/** A conditional update of an item in table `Webhooks`. */
export interface WebhookUpdate {
  readonly table: string;
  readonly key: { readonly accountId: string; readonly eventName: string };
  /** The update expression; with an announcement it begins with `SET`. */
  readonly update: string;
  /** The condition expression. */
  readonly when: string;
  readonly names?: Record<string, string> | undefined;
  readonly values: Item;
  readonly announcement?: Announcement | undefined;
  /** When it is announced, in milliseconds since the epoch; by default the announcement's `since`. */
  readonly announcedAt?: number;
}

/**
 * Updates a webhook and adds the announcement, if there is one, in the same write. Gives the item after that; `undefined` when
 * the condition does not hold.
 */
export async function updateWebhook(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  { announcement, announcedAt = announcement?.since ?? 0, ...change }: WebhookUpdate,
): Promise<Item | undefined> {
  const write = announcement
    ? updateAnnouncing(dynamo, { ...change, announcement, announcedAt })
    : dynamo.send(
        new UpdateCommand({
          TableName: change.table,
          Key: change.key,
          UpdateExpression: change.update,
          ConditionExpression: change.when,
          ...(change.names && { ExpressionAttributeNames: change.names }),
          ExpressionAttributeValues: change.values,
          ReturnValues: 'ALL_NEW',
        }),
      );
  return (await conditionalWrite(write))?.Attributes;
}

const announcement = z.object({
  type: z.enum(['webhook.failing', 'webhook.suspended', 'webhook.reactivated']),
  /** When the state began that `type` names; milliseconds since the epoch. */
  since: z.int(),
  /** Why it is suspended. */
  reason: z.nullable(z.enum(['gone', 'no_success', 'operator'])),
  /** `result` of the attempt that caused it, if one did. */
  lastResult: z.nullable(z.string()),
});

const announcedItem = z.object({
  accountId: z.string(),
  eventName: z.string(),
  /** Without one no webhook is registered, and nothing is published. */
  webhookId: z.optional(z.string()),
  announcementAt: z.string(),
  announcements: z.array(announcement),
});

type AnnouncedUpdate = WebhookUpdate & { readonly announcement: Announcement; readonly announcedAt: number };

/**
 * When the list is full, the newest announcement replaces the last one: the first failure and the latest state stay, and a full
 * list never refuses a change.
 *
 * @throws {ConditionalCheckFailedException} when the change's own condition does not hold.
 */
async function updateAnnouncing(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  change: AnnouncedUpdate,
): Promise<UpdateCommandOutput> {
  for (let tries = 1; ; tries++) {
    try {
      return await dynamo.send(appending(change));
    } catch (error) {
      if (!isConditionFailed(error)) throw error; // otherwise the list is full, or the change's own condition does not hold
    }
    try {
      return await dynamo.send(replacingLast(change));
    } catch (error) {
      if (tries === maxTries || !isInvalid(error)) throw error; // otherwise the full list was removed meanwhile
    }
  }
}

function appending(change: AnnouncedUpdate): UpdateCommand {
  return announcing(change, {
    set: 'announcements = list_append(if_not_exists(announcements, :noAnnouncements), :announcements)',
    when: `(${change.when}) AND attribute_not_exists(${last})`,
    values: { ':noAnnouncements': [], ':announcements': [change.announcement] },
  });
}

/** In a list that has become shorter this appends. */
function replacingLast(change: AnnouncedUpdate): UpdateCommand {
  return announcing(change, {
    set: `${last} = :announcement`,
    when: change.when,
    values: { ':announcement': change.announcement },
  });
}

/** How often a change is tried while the sweeper publishes and removes a full list. */
const maxTries = 3;

function isInvalid(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationException';
}

/** An item keeps its place in the index until all is published, so that a sweep does not read it twice. */
function announcing(
  { table, key, update, names, values, announcedAt }: AnnouncedUpdate,
  list: { readonly set: string; readonly when: string; readonly values: Item },
): UpdateCommand {
  const indexKeys =
    'announcementShard = :announcementShard, announcementAt = if_not_exists(announcementAt, :announcementAt)';
  return new UpdateCommand({
    TableName: table,
    Key: key,
    UpdateExpression: update.replace(/^SET /, () => `SET ${list.set}, ${indexKeys}, `),
    ConditionExpression: list.when,
    ...(names && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: {
      ...values,
      ...list.values,
      ':announcementShard': announcementShard,
      ':announcementAt': `${isoTime(announcedAt)}#${key.accountId}#${key.eventName}`,
    },
    ReturnValues: 'ALL_NEW',
  });
}

const last = `announcements[${mostAnnouncements - 1}]`;
