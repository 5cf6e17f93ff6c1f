import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { attemptMessage } from '../../../lambdas/delivery/queues.ts';
import type { Log } from '../../../lambdas/platform/log.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import type { ReceiverSide } from '../process-outside.ts';
import { queueOf } from '../stage.ts';
import { second } from '../times.ts';
import { aboutSixty } from './bounds.ts';
import type { InnocentWaits } from './extra-waits.ts';
import { eventsOf, hostOf, type Period, type Tenant, type TenantEvent } from './tenant.ts';

/** Makes the receivers of tenants, which note how long what is sent to them has waited. `now`: milliseconds from the beginning. */
export function makeTenantReceivers(tenants: readonly Tenant[], period: Period, seed: number, now: () => number) {
  const random = makeRandom(seed);
  const events = new Map(
    eventsOf(tenants).map(event => [
      event.publication.deliveryId,
      { ...event, posts: 0, postedAt: Number.NEGATIVE_INFINITY, isToRepeat: false },
    ]),
  );
  const tenantOf = new Map(tenants.map(tenant => [hostOf(tenant), tenant]));
  const retriesDue = new Map<string, number>();
  const crowds = makeCrowds();
  const waits = { first: [] as { due: number; wait: number }[], retries: [] as { due: number; wait: number }[] };
  let bystanderLongest = 0;
  let posts = 0;
  let postedTwice = 0;
  const side = { take, resolvesAfter } satisfies ReceiverSide;
  return {
    side,
    events,
    noteSent,
    logOf,
    waits: waitsUntilNow,
    slowLane,
    posts: () => posts,
    postedTwice: () => postedTwice,
  };

  function take(deliveryId: string): ReturnType<ReceiverSide['take']> {
    const event = events.get(deliveryId);
    if (!event) throw new Error(`A POST of an unknown event: ${deliveryId}`);
    posts += 1;
    event.posts += 1;
    if (now() - event.postedAt < second) postedTwice += 1;
    event.postedAt = now();
    noteWait(event, deliveryId);
    const { answers, isSuccess } = event.tenant.behave(random, { attempt: event.posts, number: event.number }, now());
    event.isToRepeat = !isSuccess;
    return { status: isSuccess ? 200 : 500, afterMs: answers, answer: '' };
  }

  function resolvesAfter(host: string): number {
    const { resolves = 0, silentFrom = Number.POSITIVE_INFINITY } = tenantOf.get(host) ?? {};
    return now() < silentFrom ? resolves : Number.POSITIVE_INFINITY;
  }

  /** Returns the log of a function. It tells of each attempt, with the time in which its name was resolved. */
  function logOf(functionName: string): Log {
    return { info: note, warn: note, error: note };

    function note(...[message, { host, durationMs } = {}]: Parameters<Log['info']>): void {
      if (functionName !== 'deliver-slow' || message !== 'delivery.attempt') return;
      crowds.add(String(host), now() - Number(durationMs), now());
    }
  }

  /** A retry is due when its message may first be received: SQS counts whole seconds. */
  function noteSent(command: unknown): void {
    for (const { MessageBody, DelaySeconds = 0 } of messagesOf(command)) {
      const { id, attempt } = attemptMessage.parse(JSON.parse(MessageBody ?? ''));
      if (attempt !== 2 || events.get(id)?.tenant.part !== 'innocent' || retriesDue.has(id)) continue;
      retriesDue.set(id, now() + DelaySeconds * 1_000);
    }
  }

  function noteWait({ tenant, due, posts: attempt }: TenantEvent & { posts: number }, deliveryId: string): void {
    if (tenant.part === 'bystander' && attempt === 1) bystanderLongest = Math.max(bystanderLongest, now() - due);
    if (tenant.part !== 'innocent') return;
    if (attempt === 1) note('first', due);
    if (attempt === 2) note('retries', retriesDue.get(deliveryId) ?? Number.NaN);
  }

  function note(kind: keyof typeof waits, due: number): void {
    if (due >= period.from && due < period.until) waits[kind].push({ due, wait: now() - due });
  }

  /** Returns the waits so far. What has not been attempted has waited until now, and so has a retry whose message was never sent. */
  function waitsUntilNow(): InnocentWaits {
    for (const [id, { tenant, due, posts: made, postedAt, isToRepeat }] of events) {
      if (tenant.part !== 'innocent') continue;
      if (made === 0) note('first', due);
      if (made === 1 && isToRepeat) note('retries', retriesDue.get(id) ?? postedAt);
    }
    return waits;
  }

  function slowLane() {
    const unposted = [...events.values()].filter(
      ({ posts: made, tenant }) => made === 0 && tenant.part === 'bystander',
    );
    const longest = Math.max(bystanderLongest, ...unposted.map(({ due }) => now() - due));
    return { bystanderLongest: longest, ...crowds.figures() };
  }
}

/** Returns the messages that a command sends to the queue of retries. */
function messagesOf(command: unknown) {
  if (command instanceof SendMessageCommand) return command.input.QueueUrl === queueOf.retry ? [command.input] : [];
  if (!(command instanceof SendMessageBatchCommand) || command.input.QueueUrl !== queueOf.retry) return [];
  return command.input.Entries ?? [];
}

/** Makes what counts the attempts that are under way at each receiver at once. Times in milliseconds. */
function makeCrowds() {
  const changes = new Map<string, { at: number; by: 1 | -1 }[]>();
  return { add, figures };

  function add(host: string, from: number, until: number): void {
    const known = changes.get(host) ?? [];
    changes.set(host, known);
    known.push({ at: from, by: 1 }, { at: until, by: -1 });
  }

  /** Returns the most at one, and for how long there were more than about sixty at the one that had them longest. */
  function figures() {
    let [mostUnderWay, manyUnderWayFor] = [0, 0];
    for (const known of changes.values()) {
      let [count, manyFor, last] = [0, 0, 0];
      for (const { at, by } of known.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
        if (count > aboutSixty) manyFor += at - last;
        [count, last] = [count + by, at];
        mostUnderWay = Math.max(mostUnderWay, count);
      }
      manyUnderWayFor = Math.max(manyUnderWayFor, manyFor);
    }
    return { mostUnderWay, manyUnderWayFor };
  }
}
