import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { keysUntil } from '../../../lambdas/delivery/store/delivery-item.ts';
import { type Publication, sentAt } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { deadLetters, queueOf } from '../stage.ts';
import { minute, second } from '../times.ts';
import { itemsWithin } from '../watched-tables.ts';
import { storedDeliveries } from './stored.ts';
import type { Violate } from './violation.ts';

/** Checks that each event has an outcome and that deliveries are on time, during the run and at the end. */
export function judgeDeliveries(world: World, startedAt: number, violate: Violate) {
  const { cloud, tables, watched, receivers, publications, people, faultClass } = world;
  const maxOverdue = faultClass === 'calm' ? maxOverdueWithoutFaults : maxOverdueWithFaults;
  const mayDie = faultClass === 'deaths' || faultClass === 'all';
  const logged = new Set<string>();
  let readUntil = startedAt;
  let worst = 0;
  return { look, judgeEnd, worstLateness: () => worst };

  /** Returns whether the account of an event was never deleted after the event. Deleting an account deletes its deliveries. */
  function isKept(publication: Publication): boolean {
    return !people.wasDeleted(publication.account, startedAt + sentAt(publication));
  }

  /** Checks that no delivery is overdue. */
  function look(): void {
    const deliveries = storedDeliveries(watched);
    const outcomes = readOutcomes();
    for (const publication of publications) {
      const delivery = deliveries.get(publication.deliveryId);
      const isOver = delivery ? delivery.state !== 'pending' : outcomes.has(publication.deliveryId);
      if (isOver || !isKept(publication)) continue;
      if (delivery) lookAt(delivery);
      else judgeLateness(publication.deliveryId, startedAt + publication.at);
    }
  }

  function lookAt({ id, wait }: Delivery): void {
    if (wait) judgeLateness(id, wait.nextAttemptAt);
  }

  function judgeLateness(id: string, dueAt: number): void {
    const lateness = cloud.now() - dueAt;
    worst = Math.max(worst, lateness);
    if (lateness > maxOverdue) violate(`overdue by more than ${maxOverdue / second} s`, id);
  }

  /** Checks the state at the end, when all work should be finished. */
  function judgeEnd(): void {
    const deliveries = storedDeliveries(watched);
    const outcomes = readOutcomes();
    for (const { deliveryId } of publications.filter(isKept)) {
      const delivery = deliveries.get(deliveryId);
      if (delivery) judgeDelivery(delivery);
      else if (!outcomes.has(deliveryId)) violate('lost (neither stored nor logged)', deliveryId);
    }
    for (const name of Object.values(queueOf)) {
      const left = cloud.queue(name).bodies().length;
      if (left > 0) violate(`${left} messages remain in ${name}`);
    }
    const malformed = publications.filter(one => one.isMalformed && isKept(one));
    const stays = new Set(publications.filter(staysDead).map(({ body }) => body));
    for (const body of cloud.queue(deadLetters.queue).bodies()) {
      if (!stays.has(body)) violate(`an unexpected dead-letter message: ${body}`);
    }
    for (const { deliveryId } of malformed) {
      if (!mayDie && !logged.has(deliveryId)) violate('rejected without a log line', deliveryId);
    }
    const now = keysUntil(cloud.now());
    for (const { id, dueAt } of tables.items('Deliveries')) {
      if (dueAt !== undefined && String(dueAt) <= now) violate(`due, but still in the index: ${id}`);
    }
  }

  function judgeDelivery(delivery: Delivery): void {
    const { id, accountId, attempts } = delivery;
    const posts = receivers.postsOf(id);
    const isWhole = faultClass === 'calm' && !people.wasDeleted(accountId, 0);
    if (isWhole && posts.length > attempts.length + copiesInFlight(delivery))
      violate('POSTed too often without faults', id);
  }

  /** Returns the number of copies that arrived before the first outcome was stored. The consumer may POST each of them. */
  function copiesInFlight({ id, createdAt }: Delivery): number {
    const isInFlight = (at: number) => Math.abs(startedAt + at - createdAt) < maxUnstored;
    return Math.max(0, publications.filter(one => one.deliveryId === id && isInFlight(sentAt(one))).length - 1);
  }

  /**
   * Returns the ids of the events that ended without a delivery, from the log and the dead-letter queue. If a process
   * crashes after it moved a rejected event to the dead-letter queue, the log does not contain the event.
   */
  function readOutcomes(): ReadonlySet<string> {
    const dead = new Set(cloud.queue(deadLetters.queue).bodies());
    const left = publications.filter(one => dead.has(one.body) && staysDead(one));
    return new Set([...readLines(), ...left.map(({ deliveryId }) => deliveryId)]);
  }

  /** Returns whether a message may remain in the dead-letter queue, because it is malformed or older than its webhook. */
  function staysDead(publication: Publication): boolean {
    const { account, event, queue, at, isMalformed } = publication;
    if (isMalformed || queue !== deadLetters.queue) return isMalformed;
    const changes = watched.changesOf('Webhooks').get(`${account} ${event}`) ?? [];
    const registered = itemsWithin(changes, startedAt + at, startedAt + at + minute);
    return registered.some(item => Number(item?.createdAt) > startedAt + sentAt(publication));
  }

  /** Reads the new log lines, and returns the ids of all logged events so far. */
  function readLines(): ReadonlySet<string> {
    const until = cloud.now();
    for (const { text } of cloud.logs({ text: outcomeLine, from: readUntil, until })) {
      logged.add(deliveryIdIn.exec(text)?.[1] ?? '');
    }
    readUntil = until;
    return logged;
  }
}

/**
 * The maximum time by which a delivery may be overdue. Without faults, only its own receiver delays a delivery. With faults,
 * the batch of a crashed process returns after 4.5 minutes, and a lost message of the slow queue after 5 minutes and one failed sweep.
 */
const maxOverdueWithoutFaults = 25 * second;
const maxOverdueWithFaults = 7 * minute;

/** The maximum time from sending an event to storing its first outcome without faults, in milliseconds. */
const maxUnstored = 20 * second;

const outcomeLine = /"message":"event\.(?:without_webhook|rejected)"/;
const deliveryIdIn = /"deliveryId":"([^"]+)"/;
