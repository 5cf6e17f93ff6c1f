import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { attemptMessage } from '../../../lambdas/delivery/queues.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import type { ReceiverSide } from '../process-outside.ts';
import type { SentPost } from '../receivers.ts';
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
      { ...event, posts: 0, postedAt: Number.NEGATIVE_INFINITY },
    ]),
  );
  const tenantOf = new Map(tenants.map(tenant => [hostOf(tenant), tenant]));
  const retriesDue = new Map<string, number>();
  const crowds = makeCrowds(now);
  const waits = { first: [] as { due: number; wait: number }[], retries: [] as { due: number; wait: number }[] };
  let bystanderLongest = 0;
  let posts = 0;
  let postedTwice = 0;
  const side: ReceiverSide = { take, leave, resolvesAfter };
  return {
    side,
    events,
    noteSent,
    waits: waitsUntilNow,
    slowLane,
    posts: () => posts,
    postedTwice: () => postedTwice,
  };

  function take(deliveryId: string, { host, functionName }: SentPost): ReturnType<ReceiverSide['take']> {
    const event = events.get(deliveryId);
    if (!event) throw new Error(`A POST of an unknown event: ${deliveryId}`);
    posts += 1;
    event.posts += 1;
    if (now() - event.postedAt < second) postedTwice += 1;
    event.postedAt = now();
    noteWait(event, deliveryId);
    if (isSlowLane(functionName)) crowds.enter(host);
    const { answers, isSuccess } = event.tenant.behave(random, { attempt: event.posts, number: event.number }, now());
    return { status: isSuccess ? 200 : 500, afterMs: answers, answer: '' };
  }

  function leave(host: string, functionName: string): void {
    if (isSlowLane(functionName)) crowds.leave(host);
  }

  function resolvesAfter(host: string): number {
    return tenantOf.get(host)?.resolves ?? 0;
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

  /** Returns the waits so far. What has not been attempted has waited until now. */
  function waitsUntilNow(): InnocentWaits {
    const missing = [...events.values()].filter(({ posts: made, tenant }) => made === 0 && tenant.part === 'innocent');
    for (const { due } of missing) note('first', due);
    for (const [id, due] of retriesDue) if (events.get(id)?.posts === 1) note('retries', due);
    return waits;
  }

  function slowLane() {
    return { bystanderLongest, mostUnderWay: crowds.most(), manyUnderWayFor: crowds.manyFor() };
  }
}

function isSlowLane(functionName: string): boolean {
  return functionName === 'deliver-slow';
}

/** Returns the messages that a command sends to the queue of retries. */
function messagesOf(command: unknown) {
  if (command instanceof SendMessageCommand) return command.input.QueueUrl === queueOf.retry ? [command.input] : [];
  if (!(command instanceof SendMessageBatchCommand) || command.input.QueueUrl !== queueOf.retry) return [];
  return command.input.Entries ?? [];
}

/** Makes what counts the attempts that are under way at each receiver at once. Times in milliseconds. */
function makeCrowds(now: () => number) {
  const crowds = new Map<string, Crowd>();
  let most = 0;
  return { enter, leave, most: () => most, manyFor };

  function enter(host: string): void {
    const crowd = crowds.get(host) ?? { count: 0, manySince: undefined, manyFor: 0 };
    crowds.set(host, crowd);
    crowd.count += 1;
    most = Math.max(most, crowd.count);
    if (crowd.count > aboutSixty) crowd.manySince ??= now();
  }

  function leave(host: string): void {
    const crowd = crowds.get(host);
    if (!crowd) return;
    crowd.count -= 1;
    if (crowd.count > aboutSixty || crowd.manySince === undefined) return;
    crowd.manyFor += now() - crowd.manySince;
    crowd.manySince = undefined;
  }

  /** Returns for how long there were more than about sixty at the one that had them longest. */
  function manyFor(): number {
    return Math.max(0, ...[...crowds.values()].map(crowd => crowd.manyFor + now() - (crowd.manySince ?? now())));
  }
}

interface Crowd {
  count: number;
  manySince: number | undefined;
  manyFor: number;
}
