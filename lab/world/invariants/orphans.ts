import { limitIdsOf } from '../../../lambdas/delivery/api/request-limits.ts';
import { isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { unregisteredEventsId } from '../../../lambdas/delivery/intake/unregistered-events.ts';
import { slownessId } from '../../../lambdas/delivery/lanes/slow-since.ts';
import { replaysId } from '../../../lambdas/delivery/replay/replay-store.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { responsesPrefix } from '../../../lambdas/delivery/store/response-item.ts';
import { webhookIn } from '../../../lambdas/webhooks/webhook.ts';
import { type Account, eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { day, second } from '../times.ts';
import type { Check, Violate } from './violation.ts';

/** Checks that every item in the final tables belongs to an existing record. */
export function checkOrphans({ cloud, tables, accounts, people, faultClass }: World, violate: Violate): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    const items = tables.items('Deliveries');
    const heads = new Set(items.filter(({ part }) => part === headPart).map(({ id }) => String(id)));
    const own = new Set(accounts.flatMap(idsOf));
    for (const { id, part, state, dueShard, webhookId, accountId, settledAt, ttl } of items) {
      const key = `${id} ${part}`;
      const isResponse = String(part).startsWith(responsesPrefix);
      if (isDeliveryId(String(id))) {
        // A response may remain if the outcome of its POST was not stored, or if the account was deleted during the POST.
        if (isResponse && !heads.has(String(id)) && faultClass === 'none' && !wasAnyDeleted())
          violate(`a response without a delivery: ${key}`);
        if (!isResponse && (part !== headPart || webhookId === undefined)) violate(`an item without an owner: ${key}`);
        const retention = Number(ttl) * second - Number(isResponse ? cloud.now() : settledAt);
        const days = isResponse ? 59 : 30; // a world lasts less than a day
        if (isResponse || settledAt !== undefined) {
          if (!(retention >= days * day && retention < (days + 1) * day))
            violate(`retained for ${retention} ms: ${key}`);
        }
        if (dueShard !== undefined && state !== 'pending') violate(`ended, but still in the index: ${key}`);
        if (!isResponse && !accounts.some(account => account.id === accountId))
          violate(`an item of an unknown account: ${key}`);
      } else if (!own.has(String(id))) {
        violate(`an item without an owner: ${key}`);
      }
    }
    for (const item of tables.items('Webhooks')) {
      const isOperatorSuspension = item.status === 'suspended' && item.suspensionReason === 'operator';
      const key = `${item.accountId} ${item.eventName}`;
      if (!webhookIn(item) && !isOperatorSuspension) violate(`neither a webhook nor a suspension: ${key}`);
      if (item.pendingAnnouncement !== undefined || item.announcementShard !== undefined)
        violate(`not announced: ${key}`);
    }
  }

  function wasAnyDeleted(): boolean {
    return accounts.some(({ id }) => people.wasDeleted(id, 0));
  }
}

/** Returns the ids of an account's items that are not deliveries. */
export function idsOf({ id: accountId, event = eventName }: Pick<Account, 'id' | 'event'>): readonly string[] {
  const owner = { accountId, eventName: event };
  return [unregisteredEventsId(accountId), slownessId(owner), replaysId(owner), ...limitIdsOf(accountId, [event])];
}
