import { limitIdsOf } from '../../lambdas/delivery/api/request-limits.ts';
import { unregisteredEventsId } from '../../lambdas/delivery/intake/unregistered-events.ts';
import { slownessId } from '../../lambdas/delivery/lanes/slow-since.ts';
import { replaysId } from '../../lambdas/delivery/replay/replay-store.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import type { ItemKey } from '../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { EVENT_NAMES, webhookKey } from '../../lambdas/webhooks/webhook.ts';
import type { AccountItems } from './account-items.ts';
import type { DeletedKind } from './item-kinds.ts';

/** The kinds of items that belong to the account itself. Deliveries are deleted in batches, the others by their stores. */
type OwnKind = Exclude<DeletedKind, 'clients' | 'deliveries' | 'users'>;

/** Lists the keys of the items that belong to the account itself, by kind. */
export function ownKeysOf({
  account,
  table,
  itemsOf,
}: AccountItems): Readonly<Record<OwnKind, () => AsyncGenerator<ItemKey>>> {
  const owners = EVENT_NAMES.map(eventName => ({ accountId: account, eventName }));
  return {
    webhooks: async function* webhookKeys() {
      for (const eventName of EVENT_NAMES) yield { table: table('Webhooks'), key: webhookKey(account, eventName) };
    },
    slowness: async function* slownessKeys() {
      for (const owner of owners) yield headKey(table('Deliveries'), slownessId(owner));
    },
    replays: async function* replayKeys() {
      for (const owner of owners) yield* keysUnder(replaysId(owner));
    },
    eventsWithoutWebhook: async function* eventsWithoutWebhookKeys() {
      yield headKey(table('Deliveries'), unregisteredEventsId(account));
    },
    limits: async function* limitKeys() {
      for (const id of limitIdsOf(account, EVENT_NAMES)) yield headKey(table('Deliveries'), id);
    },
  };

  async function* keysUnder(id: string): AsyncGenerator<ItemKey> {
    for (const { part } of await itemsOf(id)) yield { table: table('Deliveries'), key: { id, part } };
  }
}

/** Lists the keys of all existing deliveries and their responses. Reads the items, because an index may be outdated. */
export async function* deliveryKeysOf({ table, deliveryIds, itemsOf }: AccountItems): AsyncGenerator<ItemKey> {
  for await (const ids of inBatches(deliveryIds(['others', 'delivered']), readsAtOnce)) {
    for (const items of await Promise.all(ids.map(itemsOf))) {
      for (const { id, part } of items) yield { table: table('Deliveries'), key: { id, part } };
    }
  }
}

const readsAtOnce = 32;
