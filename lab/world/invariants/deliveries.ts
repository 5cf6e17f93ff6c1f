import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { keysUntil } from '../../../lambdas/delivery/store/delivery-item.ts';
import { type Publication, sentAt } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { deadLetters, queueOf } from '../stage.ts';
import { minute, second } from '../times.ts';
import { itemsWithin } from '../watched-tables.ts';
import { storedDeliveries } from './stored.ts';
import type { Violate } from './violation.ts';

/** Judges the outcome of each event and each delivery, continuously and at the end. */
export function judgeDeliveries(world: World, startedAt: number, violate: Violate) {
  const { cloud, tables, watched, receivers, publications, people, faultClass } = world;
  const latest = faultClass === 'calm' ? latestInCalm : latestWithFaults;
  const mayDie = faultClass === 'deaths' || faultClass === 'all';
  const logged = new Set<string>();
  let readUntil = startedAt;
  let worst = 0;
  return { look, judgeEnd, worstLateness: () => worst };

  /** Returns whether the account of an event existed until the end. Deleting an account deletes its deliveries. */
  function isKept(publication: Publication): boolean {
    return !people.wasDeleted(publication.account, startedAt + sentAt(publication));
  }

  /** Judges the state while work is in flight. */
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
    if (lateness > latest) violate(`overdue by more than ${latest / second} s`, id);
  }

  /** Judges the state at the end, when all work should be finished. */
  function judgeEnd(): void {
    const deliveries = storedDeliveries(watched);
    const outcomes = readOutcomes();
    for (const { deliveryId } of publications.filter(isKept)) {
      const delivery = deliveries.get(deliveryId);
      if (delivery) judgeDelivery(delivery);
      else if (!outcomes.has(deliveryId)) violate('lost: neither stored nor logged', deliveryId);
    }
    for (const name of Object.values(queueOf)) {
      const left = cloud.queue(name).bodies().length;
      if (left > 0) violate(`${left} messages are left in ${name}`);
    }
    const malformed = publications.filter(one => one.isMalformed && isKept(one));
    const stays = new Set(publications.filter(staysDead).map(({ body }) => body));
    for (const body of cloud.queue(deadLetters.queue).bodies()) {
      if (!stays.has(body)) violate(`a dead-letter message: ${body}`);
    }
    for (const { deliveryId } of malformed) {
      if (!mayDie && !logged.has(deliveryId)) violate('rejected without a log line', deliveryId);
    }
    const now = keysUntil(cloud.now());
    for (const { id, dueAt } of tables.items('Deliveries')) {
      if (dueAt !== undefined && String(dueAt) <= now) violate(`due, and left in the index: ${id}`);
    }
  }

  function judgeDelivery(delivery: Delivery): void {
    const { id, accountId, attempts } = delivery;
    const posts = receivers.postsOf(id);
    const isWhole = faultClass === 'calm' && !people.wasDeleted(accountId, 0);
    if (isWhole && posts.length > attempts.length + copiesInFlight(delivery)) violate('POSTed again in calm', id);
  }

  /** Returns how many copies arrived before the first outcome was stored, during the attempt. Each may be POSTed. */
  function copiesInFlight({ id, createdAt }: Delivery): number {
    const isInFlight = (at: number) => Math.abs(startedAt + at - createdAt) < maxUnstored;
    return Math.max(0, publications.filter(one => one.deliveryId === id && isInFlight(sentAt(one))).length - 1);
  }

  /**
   * Returns the ids of the events without deliveries, which are logged or dead-letter messages. A process that dies
   * right after it moved a rejected event there does not log it.
   */
  function readOutcomes(): ReadonlySet<string> {
    const dead = new Set(cloud.queue(deadLetters.queue).bodies());
    const left = publications.filter(one => dead.has(one.body) && staysDead(one));
    return new Set([...readLines(), ...left.map(({ deliveryId }) => deliveryId)]);
  }

  /** Returns whether a message may remain in the dead-letter queue, because it is malformed or preceded its webhook. */
  function staysDead(publication: Publication): boolean {
    const { account, event, queue, at, isMalformed } = publication;
    if (isMalformed || queue !== deadLetters.queue) return isMalformed;
    const changes = watched.changesOf('Webhooks').get(`${account} ${event}`) ?? [];
    const registered = itemsWithin(changes, startedAt + at, startedAt + at + minute);
    return registered.some(item => Number(item?.createdAt) > startedAt + sentAt(publication));
  }

  /** Reads the new lines of the log. */
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
 * In calm, deliveries are only delayed by their own receiver. With faults, the batch of a dead process returns after
 * 4.5 minutes. A delivery without a message in the slow queue is overdue after 5 minutes and one failed sweep.
 */
const latestInCalm = 25 * second;
const latestWithFaults = 7 * minute;

/** The maximum time from sending an event to storing its first outcome, in calm. Milliseconds. */
const maxUnstored = 20 * second;

const outcomeLine = /"message":"event\.(?:without_webhook|rejected)"/;
const deliveryIdIn = /"deliveryId":"([^"]+)"/;
