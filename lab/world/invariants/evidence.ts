import { type AttemptRecord, type Delivery, isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { responsePart } from '../../../lambdas/delivery/store/response-item.ts';
import { type EventName, type Webhook, webhookIn } from '../../../lambdas/webhooks/webhook.ts';
import type { World } from '../make-world.ts';
import type { Post } from '../receivers.ts';
import { clockError, maxPreparation, second } from '../times.ts';
import { type Change, itemsWithin } from '../watched-tables.ts';
import { readReplayRuns } from './replay-runs.ts';
import { readDelivery } from './stored.ts';

/** A change of a delivery. `delivery` is undefined if the delivery was deleted. */
export interface DeliveryChange {
  readonly at: number;
  readonly delivery: Delivery | undefined;
}

/** The history of a finished world, for the invariant checks. */
export type Evidence = ReturnType<typeof collectEvidence>;

/** Collects the history of the tables. */
export function collectEvidence({ watched, receivers, completed }: World) {
  const deliveries = new Map<string, readonly DeliveryChange[]>();
  for (const [key, changes] of watched.changesOf('Deliveries')) {
    const [id = '', part] = key.split(' ');
    if (part === headPart && isDeliveryId(id)) deliveries.set(id, changes.map(readChange));
  }
  const replays = readReplayRuns(watched);
  const restarts = [...deliveries.values()].flatMap(readRestarts);
  return {
    deliveries,
    replays,
    restarts,
    wasResent,
    postOf,
    deliveriesWithin,
    webhookChanges,
    webhooksWithin,
    webhooksBefore,
  };

  /** Returns the changes that started a new schedule for an ended delivery. */
  function readRestarts(changes: readonly DeliveryChange[]) {
    return changes.flatMap(({ at, delivery: after }, index) => {
      const before = changes[index - 1]?.delivery;
      if (!before || !after || before.state === 'pending' || after.scheduledAt === before.scheduledAt) return [];
      return [{ at, before, after, isResent: wasResent(after.id, at) }];
    });
  }

  /** Returns whether an integrator resent a delivery at a given time. */
  function wasResent(id: string, at: number): boolean {
    return completed().some(
      ({ path, status, sentAt, endedAt }) =>
        path.endsWith(`/${id}/reenvio`) && (status === 202 || status >= 500) && sentAt <= at && at <= endedAt + second,
    );
  }

  /** Returns the POST of an attempt, identified by the latest response stored until `at`. The text of each response is unique. */
  function postOf(id: string, record: AttemptRecord, at = Number.POSITIVE_INFINITY): Post | undefined {
    const change = watched
      .changesOf('Deliveries')
      .get(`${id} ${responsePart(record)}`)
      ?.findLast(each => each.at <= at);
    const responseBody = record.responseId ? change?.item?.response : record.response;
    const startedAt = Date.parse(record.startedAt);
    const isOwn = (post: Post) =>
      post.responseBody === responseBody &&
      post.status === record.status &&
      post.at > startedAt - clockError &&
      post.at < startedAt + record.durationMs + maxPreparation;
    return receivers.postsOf(id).find(isOwn);
  }

  /** Returns the versions of a delivery in a period. */
  function deliveriesWithin(id: string, from: number, until: number): readonly (Delivery | undefined)[] {
    const changes = deliveries.get(id) ?? [];
    const later = changes.filter(({ at }) => from < at && at <= until);
    return [changes.findLast(({ at }) => at <= from), ...later].map(change => change?.delivery);
  }

  /** Returns the changes of an account's webhook for an event. */
  function webhookChanges({ accountId, eventName }: Owner): readonly Change[] {
    return watched.changesOf('Webhooks').get(`${accountId} ${eventName}`) ?? [];
  }

  /** Returns the versions of an account's webhook in a period. */
  function webhooksWithin(owner: Owner, from: number, until: number): readonly (Webhook | undefined)[] {
    return itemsWithin(webhookChanges(owner), from, until).map(webhookIn);
  }

  /** Returns the versions of a webhook that a process may have read before it stored the end of a delivery. */
  function webhooksBefore(owner: Owner, at: number): readonly (Webhook | undefined)[] {
    return webhooksWithin(owner, at - 12 * second, at);
  }
}

interface Owner {
  readonly accountId: string;
  readonly eventName: EventName;
}

function readChange({ at, item }: Change): DeliveryChange {
  return { at, delivery: item && readDelivery(item) };
}
