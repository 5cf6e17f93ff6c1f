import {
  type DynamoDBDocumentClient,
  QueryCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import { isConditionFailed } from '../../platform/dynamo.ts';
import {
  type AnnouncedItem,
  type Announcement,
  announcementIndex,
  announcementShard,
  parseAnnouncedItem,
} from '../../webhooks/announcement.ts';
import { type WebhookRecord, wireReasons } from '../../webhooks/representation.ts';
import { webhookKey } from '../../webhooks/webhook.ts';
import type { AttemptResult } from '../delivery.ts';
import { wireResults } from '../representation.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/** What the operators' topic carries: JSON that another program can forward. */
export interface PublishedAnnouncement {
  readonly type: Announcement['type'];
  readonly accountId: string;
  readonly event: string;
  readonly webhookId: string;
  /** RFC 3339, UTC. */
  readonly since: string;
  readonly reason: WebhookRecord['motivo_suspensao'];
  /** `resultado` of the attempt that led to this, where one did. */
  readonly lastResult: string | null;
}

/** Publishes what webhooks have to announce, for as long as `hasTime` says so. */
export type Announce = (hasTime: () => boolean) => Promise<void>;

/** What announcing needs. */
export interface AnnounceDependencies extends Pick<DeliveryTelemetry, 'log'> {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Webhooks`. */
  readonly table: string;
  readonly publish: (announcement: PublishedAnnouncement) => Promise<void>;
}

/** Makes the announcer: an announcement is published first and then taken out, so that a crash repeats it and never forgets. */
export function makeAnnounce({ dynamo, table, publish, log }: AnnounceDependencies): Announce {
  return async function announce(hasTime) {
    let from: Record<string, unknown> | undefined;
    let failure: unknown;
    do {
      const page = await dynamo.send(
        new QueryCommand({
          TableName: table,
          IndexName: announcementIndex,
          KeyConditionExpression: 'announcementShard = :shard',
          ExpressionAttributeValues: { ':shard': announcementShard },
          Limit: pageSize,
          ExclusiveStartKey: from,
        }),
      );
      for (const { accountId, eventName } of page.Items ?? []) {
        if (!hasTime()) return;
        try {
          // The index lags, and holds no more than keys.
          const [item] = await batchGet(dynamo, [{ table, key: webhookKey(accountId, eventName) }]);
          const announced = parseAnnouncedItem(item);
          if (announced) await publishAll(announced, hasTime);
        } catch (error) {
          failure = error; // one that cannot be published now does not hold up the others
        }
      }
      from = page.LastEvaluatedKey;
    } while (from);
    if (failure !== undefined) throw failure;
  };

  async function publishAll(item: AnnouncedItem, hasTime: () => boolean): Promise<void> {
    const { accountId, eventName: event, webhookId, announcements } = item;
    for (const first of announcements) {
      if (!hasTime()) return;
      const { type, since, reason, lastResult } = first;
      if (webhookId !== undefined) {
        await publish({
          type,
          accountId,
          event,
          webhookId,
          since: new Date(since).toISOString(),
          reason: reason && wireReasons[reason],
          lastResult: lastResult && wireResults[lastResult as AttemptResult],
        });
        log.info('webhook.announced', { type, account: accountId, event, reason });
      }
      if (!(await takeOut(item, first))) return;
    }
    await leaveIndex(item);
  }

  /** Takes out the first announcement, whatever was added meanwhile. False: it is another one by now. */
  function takeOut(item: AnnouncedItem, { type, since, reason }: Announcement): Promise<boolean> {
    return update(item, {
      UpdateExpression: 'REMOVE announcements[0]',
      ConditionExpression:
        'announcements[0].#type = :type AND announcements[0].since = :since AND announcements[0].reason = :reason',
      ExpressionAttributeNames: { '#type': 'type' },
      ExpressionAttributeValues: { ':type': type, ':since': since, ':reason': reason },
    });
  }

  /** Where there is more to announce by now, the next run does. */
  function leaveIndex(item: AnnouncedItem): Promise<boolean> {
    return update(item, {
      UpdateExpression: 'REMOVE announcements, announcementShard, announcementAt',
      ConditionExpression: 'attribute_exists(announcements) AND attribute_not_exists(announcements[0])',
    });
  }

  /** False: the condition does not hold. */
  async function update(
    { accountId, eventName }: AnnouncedItem,
    change: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
  ): Promise<boolean> {
    try {
      await dynamo.send(new UpdateCommand({ TableName: table, Key: { accountId, eventName }, ...change }));
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }
}

/** Webhooks read from the index at a time. */
const pageSize = 25;
