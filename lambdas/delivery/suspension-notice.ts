import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { isConditionFailed, readTogether } from '../platform/dynamodb.ts';
import { eventName, type Webhook } from '../webhooks/webhook.ts';
import { dueAttributes } from './delivery-item.ts';
import type { DueEntry } from './delivery-store.ts';
import type { FindWebhook } from './lookup.ts';
import type { Errand } from './sweep.ts';
import type { DeliveryTelemetry } from './telemetry.ts';

/*
 * A suspension is announced by the sweeper, from a notice that is stored before the webhook is suspended: whatever dies
 * in between, the announcement is made if and only if the suspension was. Item `suspensoes#<accountId>#<evento>` of table
 * `Deliveries`.
 */

/** The prefix of the notices' ids, which tells the sweeper what they are. */
export const noticesPrefix = 'suspensoes';

/** By then the suspension is made, or the process that was to make it is dead. Milliseconds. */
const settledAfter = 60_000;

/** A notice that nobody deals with is cleaned up after this many seconds. */
const longestKept = 30 * 24 * 60 * 60;

/** What the operations team is told. */
export interface SuspensionAnnouncement {
  readonly account: string;
  readonly event: string;
  readonly reason: 'gone' | 'sem_sucesso';
  /** RFC 3339, UTC. */
  readonly at: string;
}

interface StorageDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`. */
  readonly table: string;
  readonly now: Clock;
}

/** Stores the notice of a suspension that is about to be made. */
export type NoteSuspension = (webhook: Webhook) => Promise<void>;

/** Makes the writer of notices. */
export const makeNoteSuspension =
  ({ documents, table, now }: StorageDependencies): NoteSuspension =>
  async ({ accountId, evento, webhookId }) => {
    const id = `${noticesPrefix}#${accountId}#${evento}`;
    const moment = now();
    const ttl = Math.ceil(moment / 1_000) + longestKept;
    const Item = { id, accountId, evento, webhookId, ttl, ...dueAttributes(id, moment + settledAfter) };
    await documents.send(new PutCommand({ TableName: table, Item }));
  };

/** What announcing stands on. */
export interface AnnounceDependencies extends StorageDependencies, DeliveryTelemetry {
  readonly findWebhook: FindWebhook;
  readonly publish: (announcement: SuspensionAnnouncement) => Promise<void>;
}

/** Makes the announcer of suspensions: published first, then done with, so that a crash repeats and never forgets. */
export const makeAnnounceSuspension = (dependencies: AnnounceDependencies): Errand => {
  const { documents, table, findWebhook, publish, log } = dependencies;

  const close = async ({ id, dueAt }: DueEntry) => {
    try {
      await documents.send(
        new UpdateCommand({
          TableName: table,
          Key: { id },
          UpdateExpression: 'REMOVE dueShard, dueAt',
          ConditionExpression: 'dueAt = :seen',
          ExpressionAttributeValues: { ':seen': dueAt },
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error; // another suspension's notice has taken its place
    }
  };

  const announce = async ({ accountId, evento, suspensionReason, updatedAt }: Webhook) => {
    if (suspensionReason !== 'gone' && suspensionReason !== 'sem_sucesso') return; // an operator knows
    const at = new Date(updatedAt).toISOString();
    await publish({ account: accountId, event: evento, reason: suspensionReason, at });
    log.info('suspension announced', { account: accountId, event: evento, reason: suspensionReason });
  };

  return async entry => {
    const [notice] = await readTogether(documents, [{ table, key: { id: entry.id } }]);
    if (notice?.dueAt !== entry.dueAt) return; // the index is behind
    const webhook = await findWebhook(String(notice.accountId), eventName.parse(notice.evento));
    if (webhook?.webhookId === notice.webhookId && webhook?.status === 'suspenso') await announce(webhook);
    await close(entry);
  };
};
