import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Dynamo, Item } from '../../platform/aws/dynamo.ts';
import type { Publish } from '../../platform/aws/topic.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { isoTime } from '../../platform/clock.ts';
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

/** The JSON of a message on the operators' topic. */
export interface PublishedAnnouncement {
  readonly type: Announcement['type'];
  readonly accountId: string;
  readonly event: string;
  readonly webhookId: string;
  /** The time of the change (RFC 3339, UTC). */
  readonly since: string;
  readonly reason: WebhookRecord['motivo_suspensao'];
  /** The `resultado` of the attempt that caused the change, if any. */
  readonly lastResult: string | null;
  /** The delivery that caused the change, if any. */
  readonly deliveryId: string | null;
}

export type PublishAnnouncement = (announcement: PublishedAnnouncement) => Promise<void>;

/** Creates the publisher of announcements. Subscriptions can filter by the attribute `type`. */
export function makePublishAnnouncement(publish: Publish, topicArn: string): PublishAnnouncement {
  return async function publishAnnouncement(announcement) {
    const { type } = announcement;
    await publish(topicArn, {
      Subject: `Emissor: ${type.replace('.', ' ')}`,
      Message: JSON.stringify(announcement),
      MessageAttributes: { type: { DataType: 'String', StringValue: type } },
    });
  };
}

/** Publishes the pending announcements about webhooks while `hasTime` returns true. */
export type PublishAnnouncements = (hasTime: () => boolean) => Promise<void>;

/**
 * Creates the relay for the outbox that `webhooks/announcement.ts` describes. The relay clears an announcement only after publishing
 * it. A crash can therefore repeat an announcement, but never lose one.
 *
 * @param dependencies - `table` is the `Webhooks` table.
 */
export function makePublishAnnouncements(dependencies: {
  readonly dynamo: Dynamo;
  readonly table: string;
  readonly publish: PublishAnnouncement;
  readonly log: DeliveryTelemetry['log'];
}): PublishAnnouncements {
  const { dynamo, table, publish, log } = dependencies;

  return async function publishAnnouncements(hasTime) {
    let from: Item | undefined;
    let failure: unknown;
    do {
      const page = await dynamo(
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
        if (!hasTime()) break;
        try {
          // The index lags behind the table, and contains only keys.
          const [item] = await batchGet(dynamo, [{ table, key: webhookKey(accountId, eventName) }]);
          const announcedItem = parseAnnouncedItem(item);
          if (announcedItem) await publishOne(announcedItem);
        } catch (error) {
          failure = error; // continues with the other webhooks
        }
      }
      from = hasTime() ? page.LastEvaluatedKey : undefined;
    } while (from);
    if (failure !== undefined) throw failure;
  };

  async function publishOne({ accountId, eventName, webhookId, pendingAnnouncement }: AnnouncedItem): Promise<void> {
    const { type, since, reason, lastResult, deliveryId } = pendingAnnouncement;
    if (webhookId !== undefined) {
      await publish({
        type,
        accountId,
        event: eventName,
        webhookId,
        since: isoTime(since),
        reason: reason && wireReasons[reason],
        lastResult: lastResult && wireResults[lastResult as AttemptResult],
        deliveryId,
      });
      log.info('webhook.announced', { type, account: accountId, event: eventName, reason, deliveryId });
    }
    await updateItem(
      dynamo,
      { table, key: { accountId, eventName } },
      {
        set: { pendingAnnouncement: undefined, announcementShard: undefined, announcementAt: undefined },
        when: expression`pendingAnnouncement.type = ${type} AND pendingAnnouncement.since = ${since}`, // does not clear a later announcement
      },
    );
  }
}

/** The maximum number of webhooks that one call reads from the index. */
const pageSize = 25;
