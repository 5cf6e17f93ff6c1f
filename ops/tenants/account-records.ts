import { parseSession } from '../../lambdas/auth/sessions/session.ts';
import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import { makeReadUnregisteredEvents } from '../../lambdas/delivery/intake/unregistered-events.ts';
import { slownessId } from '../../lambdas/delivery/lanes/slow-since.ts';
import { replaysId } from '../../lambdas/delivery/replay/replay-store.ts';
import { toDeliveryDetail } from '../../lambdas/delivery/representation.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import { batchGet } from '../../lambdas/platform/aws/batch-get.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { toWebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { EVENT_NAMES, type Webhook } from '../../lambdas/webhooks/webhook.ts';
import { once } from '../stage/once.ts';
import { openClients, openDeliveries, openLockout, openWebhooks } from '../stage/stores.ts';
import type { Target } from '../stage/target.ts';
import type { PendingSuspension } from '../stores/operator-store.ts';
import type { AccountItems } from './account-items.ts';
import type { ExportedKind } from './item-kinds.ts';

type RecordReaders = Readonly<Record<ExportedKind, () => AsyncGenerator<object>>>;

/** Creates a reader for each kind of exported item. The exported values contain no hashes or secrets. */
export function makeRecordReaders(target: Target, items: AccountItems): RecordReaders {
  const { account, table } = items;
  const dynamo = target.dynamo;
  const [users, clients] = [once(items.listUsers), once(items.listClients)];
  return {
    /**
     * Reads the undelivered deliveries twice, because a delivery may move between the lists during the read. A successful
     * retry moves it to the delivered list, and a resend moves it back.
     */
    deliveries: async function* readDeliveries() {
      const { read, readResponses } = openDeliveries(target);
      const exported = new Set<string>();
      for await (const ids of inBatches(items.deliveryIds(['others', 'delivered', 'others']), readSize)) {
        for (const delivery of await read(ids.filter(id => !exported.has(id)))) {
          exported.add(delivery.id);
          yield deliveryView(await readResponses(delivery));
        }
      }
    },

    clients: async function* readClients() {
      for (const { secrets: _, ...client } of await clients()) yield client;
    },

    users: async function* readUsers() {
      yield* await users();
    },

    sessions: async function* readSessions() {
      for (const { userId } of await users()) {
        for await (const item of items.sessionsOf(userId)) yield { ...parseSession(item) };
      }
    },

    failedLogins: async function* readFailedLogins() {
      const clientIds = (await openClients(target).listClients()).map(({ clientId }) => clientId);
      const lockout = once(() => openLockout(target)); // requires access to the MAC key
      for (const { userId, email } of await users()) {
        const failures = await (await lockout()).findFailures(email, clientIds);
        if (failures.length > 0) yield { userId, clients: failures };
      }
    },

    webhooks: async function* readWebhooks() {
      yield* (await openWebhooks(target).listOf(account)).map(webhook => webhookView(webhook, target.clock.now()));
    },

    slowness: async function* readSlowness() {
      const ids = EVENT_NAMES.map(eventName => slownessId({ accountId: account, eventName }));
      const slownessItems = await batchGet(
        dynamo,
        ids.map(id => headKey(table('Deliveries'), id)),
      );
      for (const item of slownessItems) if (item) yield withoutKeys(item);
    },

    eventsWithoutWebhook: async function* readEventsWithoutWebhook() {
      const read = makeReadUnregisteredEvents({ dynamo, table: table('Deliveries'), now: target.clock.now });
      for (const [evento, time] of await read(account)) yield { evento, ultimo_em: isoTime(time) };
    },

    replays: async function* readReplays() {
      for (const eventName of EVENT_NAMES) {
        const replayItems = await items.itemsOf(replaysId({ accountId: account, eventName }));
        for (const item of replayItems) yield { eventName, ...withoutKeys(item) };
      }
    },
  };
}

/** The number of deliveries in one read. */
const readSize = 100;

/** Returns a webhook in the form of the API, or an operator's suspension of the next webhook. */
function webhookView(webhook: Webhook | PendingSuspension, now: number): object {
  if ('webhookId' in webhook) return toWebhookRecord(webhook, undefined, now);
  return { evento: webhook.eventName, suspended: isoTime(webhook.since) };
}

/** Returns a delivery in the form of the API, with its event. */
function deliveryView(delivery: Delivery): object {
  return { evento: delivery.eventName, ...toDeliveryDetail(delivery) };
}

/** Returns an item without its keys in the table and in the indexes. */
function withoutKeys({ id: _, part: __, dueShard: ___, dueAt: ____, ttl: _____, ...values }: Item): object {
  return values;
}
