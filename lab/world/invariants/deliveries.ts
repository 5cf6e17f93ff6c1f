import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { keysUntil } from '../../../lambdas/delivery/store/delivery-item.ts';
import { type Publication, sentAt } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { deadLetters, queueOf } from '../stage.ts';
import { minute, second } from '../times.ts';
import { itemsWithin } from '../watched-tables.ts';
import { storedDeliveries } from './stored.ts';
import type { Violate } from './violation.ts';

/** Checks that each event has an outcome and that no delivery is overdue. */
export function checkDeliveries(world: World, startedAt: number, violate: Violate) {
  const { cloud, tables, watched, receivers, publications, people, faultClass } = world;
  const overdueLimit = faultClass === 'none' ? overdueLimitWithoutFaults : overdueLimitWithFaults;
  const mayCrash = faultClass === 'crashes' || faultClass === 'all';
  const loggedIds = new Set<string>();
  let readUntil = startedAt;
  let maxOverdueMs = 0;
  return { checkDuringRun, checkAtEnd, maxOverdueMs: () => maxOverdueMs };

  /** Returns whether an event's account was not deleted after the event. A deletion removes the account's deliveries. */
  function isRetained(publication: Publication): boolean {
    return !people.wasDeleted(publication.account, startedAt + sentAt(publication));
  }

  /** Checks that no delivery is overdue. */
  function checkDuringRun(): void {
    const deliveries = storedDeliveries(watched);
    const outcomes = readOutcomes();
    for (const publication of publications) {
      const delivery = deliveries.get(publication.deliveryId);
      const isOver = delivery ? delivery.state !== 'pending' : outcomes.has(publication.deliveryId);
      if (isOver || !isRetained(publication)) continue;
      if (delivery) checkDueTime(delivery);
      else checkOverdue(publication.deliveryId, startedAt + publication.at);
    }
  }

  function checkDueTime({ id, wait }: Delivery): void {
    if (wait) checkOverdue(id, wait.nextAttemptAt);
  }

  function checkOverdue(id: string, dueAt: number): void {
    const overdueMs = cloud.now() - dueAt;
    maxOverdueMs = Math.max(maxOverdueMs, overdueMs);
    if (overdueMs > overdueLimit) violate(`overdue by more than ${overdueLimit / second} s`, id);
  }

  function checkAtEnd(): void {
    const deliveries = storedDeliveries(watched);
    const outcomes = readOutcomes();
    for (const { deliveryId } of publications.filter(isRetained)) {
      const delivery = deliveries.get(deliveryId);
      if (delivery) checkPosts(delivery);
      else if (!outcomes.has(deliveryId)) violate('lost (neither stored nor logged)', deliveryId);
    }
    for (const name of Object.values(queueOf)) {
      const remaining = cloud.queue(name).bodies().length;
      if (remaining > 0) violate(`${remaining} messages remain in ${name}`);
    }
    const malformed = publications.filter(one => one.isMalformed && isRetained(one));
    const expectedBodies = new Set(publications.filter(mayRemainDeadLetter).map(({ body }) => body));
    for (const body of cloud.queue(deadLetters.queue).bodies()) {
      if (!expectedBodies.has(body)) violate(`an unexpected dead-letter message: ${body}`);
    }
    for (const { deliveryId } of malformed) {
      if (!mayCrash && !loggedIds.has(deliveryId)) violate('rejected without a log line', deliveryId);
    }
    const dueKey = keysUntil(cloud.now());
    for (const { id, dueAt } of tables.items('Deliveries')) {
      if (dueAt !== undefined && String(dueAt) <= dueKey) violate(`due, but still in the index: ${id}`);
    }
  }

  function checkPosts(delivery: Delivery): void {
    const { id, accountId, attempts } = delivery;
    const posts = receivers.postsOf(id);
    const isComplete = faultClass === 'none' && !people.wasDeleted(accountId, 0);
    if (isComplete && posts.length > attempts.length + copiesInFlight(delivery))
      violate('POSTed too often without faults', id);
  }

  /** Returns the number of copies that arrived before the first outcome was stored. The consumer may POST each of them. */
  function copiesInFlight({ id, createdAt }: Delivery): number {
    const isInFlight = (at: number) => Math.abs(startedAt + at - createdAt) < maxStoreDelay;
    return Math.max(0, publications.filter(one => one.deliveryId === id && isInFlight(sentAt(one))).length - 1);
  }

  /**
   * Returns the ids of the events that ended without a delivery, from the log and the dead-letter queue. The log lacks a
   * rejected event if the process crashed after it moved the event to the dead-letter queue.
   */
  function readOutcomes(): ReadonlySet<string> {
    const deadLetterBodies = new Set(cloud.queue(deadLetters.queue).bodies());
    const remaining = publications.filter(one => deadLetterBodies.has(one.body) && mayRemainDeadLetter(one));
    return new Set([...readLoggedIds(), ...remaining.map(({ deliveryId }) => deliveryId)]);
  }

  /** Returns whether a message may remain in the dead-letter queue, because it is malformed or older than its webhook. */
  function mayRemainDeadLetter(publication: Publication): boolean {
    const { account, event, queue, at, isMalformed } = publication;
    if (isMalformed || queue !== deadLetters.queue) return isMalformed;
    const changes = watched.changesOf('Webhooks').get(`${account} ${event}`) ?? [];
    const registered = itemsWithin(changes, startedAt + at, startedAt + at + minute);
    return registered.some(item => Number(item?.createdAt) > startedAt + sentAt(publication));
  }

  /** Reads the new log lines, and returns the ids of all logged events so far. */
  function readLoggedIds(): ReadonlySet<string> {
    const until = cloud.now();
    for (const { text } of cloud.logs({ text: outcomeLine, from: readUntil, until })) {
      loggedIds.add(deliveryIdIn.exec(text)?.[1] ?? '');
    }
    readUntil = until;
    return loggedIds;
  }
}

/**
 * The maximum delay of a delivery after its due time. Without faults, only its own receiver delays a delivery. With faults,
 * the batch of a crashed process returns after its visibility timeout. The sweeper resends lost messages after at least 2 minutes.
 */
const overdueLimitWithoutFaults = 25 * second;
const overdueLimitWithFaults = 7 * minute;

/** The maximum time from sending an event to storing its first outcome without faults, in milliseconds. */
const maxStoreDelay = 20 * second;

const outcomeLine = /"message":"event\.(?:without_webhook|rejected)"/;
const deliveryIdIn = /"deliveryId":"([^"]+)"/;
