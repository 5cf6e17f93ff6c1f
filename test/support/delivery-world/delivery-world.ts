import { eventOf, type Outcome } from '@emissor/cloud/virtual';
import { queueOf } from '../../../lab/world/stage.ts';
import { matchPath } from '../../../lambdas/api/route.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import type { Lane } from '../../../lambdas/delivery/lane-routing.ts';
import { replaysPrefix } from '../../../lambdas/delivery/replay/replay-store.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/store/delivery-store.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { Route } from '../../../lambdas/platform/route-table.ts';
import { makeWebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { fakeTelemetry, noon } from '../../unit/delivery/builders.ts';
import { makeCallers } from './callers.ts';
import { deliveryFunctions } from './delivery-functions.ts';
import { makeLooks } from './looks.ts';
import { makeOwner } from './owner.ts';
import { makeReceivers } from './receivers.ts';
import { type Answered, type Sent, toRequest } from './requests.ts';
import { makeServices } from './services.ts';
import { type Crash, leftBy, makeSteppedCloud } from './stepped-cloud.ts';
import { makeWatchedTables } from './watched-tables.ts';

/** Delivery in virtual time, step by step. */
export type DeliveryWorld = ReturnType<typeof makeDeliveryWorld>;

/** The waits of the world: two for the queue, one for the sweeper. */
export const schedule = [5_000, 5 * 60_000, 30 * 60_000];

/**
 * Makes the whole of delivery in a virtual cloud: the functions as they are deployed, empty tables, queues that deliver at least
 * once, receivers that answer what they are told, and processes that die at any call. It stands still but for the steps of a test.
 *
 * @param waits - those of the retry schedule, in milliseconds.
 */
export function makeDeliveryWorld(waits: readonly number[] = schedule) {
  const telemetry = fakeTelemetry();
  const watched = makeWatchedTables();
  const receivers = makeReceivers();
  const services = makeServices({ receivers, cloud: () => stepped });
  const functions = deliveryFunctions({ waits, telemetry, outsideOf: services.outsideOf });
  const stepped = makeSteppedCloud({ start: noon, visibilityTimeout: 180, execute: watched.execute, functions });
  const { cloud, tables, dynamo, time, runTo } = stepped;
  const { now } = cloud;
  const looks = makeLooks(stepped, telemetry.lines);
  const { items } = looks;
  const callers = makeCallers(now, stepped.quietDynamo);
  return {
    ...telemetry,
    ...services,
    between: (name: string, act: () => Promise<unknown>) => void services.between.push({ name, act }),
    ...watched.looks,
    ...looks,
    ...makeOwner(now, dynamo),
    ...{ posts: receivers.posts, answers: receivers.answers, during: receivers.during },
    /** These stores act past all processes, and so do `register`, `remove` and the like. */
    store: makeDeliveryStore({ ...time, dynamo, table: 'Deliveries' }),
    webhooks: makeWebhookStore({ dynamo, table: 'Webhooks' }),
    dynamo,
    tables,
    now,
    /** Does something at a moment. */
    at: cloud.at,
    /** Runs until a moment. */
    run: runTo,
    /** Lets so many milliseconds pass. */
    pass: (milliseconds: number) => runTo(now() + milliseconds),
    work: stepped.work,
    publish,
    publishEvent,
    step,
    stepBatch,
    sweep,
    request,
    resend,
    settle,
    /** The messages of a queue, in the order they were sent, and the moments from which they can be received. */
    waiting: (queue: Queue) => cloud.queue(queue).all(),
    send: (queue: Queue, body: string) => cloud.send(queue, { body }),
    lose,
  };

  /** Puts a message on the queue of events. Returns its id. */
  function publish(message: object | string, texts: Record<string, string> = {}, sender = 'AROAPUBLISHER:one'): string {
    const attributes = Object.entries(texts).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]);
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    return cloud.send(queueOf.first, { body, attributes: Object.fromEntries(attributes) }, sender);
  }

  /** Publishes an event of the account and the name that `register` registers for. */
  function publishEvent(changes: object = {}, texts?: Record<string, string>): string {
    return publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, ...changes }, texts);
  }

  /**
   * Has the consumer of a lane process its next message, which is deleted unless the process dies, does not acknowledge it, or the
   * queue delivers it twice. False: there is none.
   */
  function step(lane: Lane, crash?: Crash, isTwice = false): Promise<boolean> {
    return stepBatch(lane, 1, crash, isTwice);
  }

  /** The same with so many messages at once, or as many as there are. */
  async function stepBatch(lane: Lane, most: number, crash?: Crash, isTwice = false): Promise<boolean> {
    const queue = cloud.queue(queueOf[lane]);
    const batch = queue.receive(most);
    if (batch.length === 0) return false;
    const outcome = await stepped.invoke(lane, eventOf(batch, queue.name), crash);
    if (!isAlive(outcome) || isTwice) return true;
    const left = leftBy(outcome);
    for (const { receipt } of batch.filter(({ id }) => !left.has(id))) queue.remove(receipt);
    return true;
  }

  /** One run of the sweeper, which publishes announcements, too. False: its process died. */
  async function sweep(crash?: Crash): Promise<boolean> {
    return isAlive(await stepped.invoke('sweep', undefined, crash));
  }

  /** Resends as an owner does whose request came this many milliseconds ago. */
  async function resend(delivery: Delivery, ago = 0): Promise<void> {
    isAlive(await stepped.invoke('resend', { delivery, ago }));
  }

  /** A request to {base_url}, which leads to the function of its path; nothing comes back from a process that dies. */
  async function request(method: string, path: string, sent: Sent = {}, crash?: Crash): Promise<Answered | undefined> {
    const asked = toRequest(method, path, sent);
    const authorization = await callers.authorization(asked.headers.authorization ?? '');
    const event = { ...asked, headers: { ...asked.headers, authorization } };
    const outcome = await stepped.invoke(isOfDeliveries(path) ? 'api' : 'webhooks', event, crash);
    if (!isAlive(outcome)) return undefined;
    const { statusCode: status, headers = {}, body = '' }: Answer = { ...Object(outcome.result) };
    return { status, headers, json: body === '' ? undefined : JSON.parse(body) };
  }

  /** Lets everything run its course without further accidents. */
  async function settle(): Promise<void> {
    for (let steps = 0; steps < 2_000; steps++) {
      if ((await step('first')) || (await step('retry')) || (await step('slow'))) continue;
      const looks = items()
        .filter(({ dueAt }) => dueAt !== undefined)
        .map(item => lookOf(item, now()));
      const messages = Object.values(queueOf).flatMap(name => cloud.queue(name).all());
      const times = [...looks, ...messages.map(({ visibleAt }) => visibleAt)];
      if (times.length === 0) return;
      await runTo(Math.max(now(), Math.min(...times)));
      if (looks.some(lookAt => lookAt <= now())) await sweep();
    }
    throw new Error('The world does not come to rest.');
  }

  /** Loses all messages of a queue, and returns them. */
  function lose(name: Queue) {
    const queue = cloud.queue(name);
    const lost = queue.all();
    queue.purge();
    return lost;
  }
}

function isOfDeliveries(path: string): boolean {
  return Object.values<Route>(deliveryRoutes).some(route => matchPath(route.path, path));
}

type Queue = 'events' | 'retries' | 'slow';

interface Answer {
  readonly statusCode?: number;
  readonly headers?: Record<string, unknown>;
  readonly body?: string;
}

/** Returns whether an invocation came to its end. @throws what its handler threw */
function isAlive(outcome: Outcome): outcome is Extract<Outcome, { status: 'answered' }> {
  if (outcome.status === 'failed') throw outcome.error;
  return outcome.status === 'answered';
}

/** A running replay is due in each sweep. */
function lookOf({ id, dueAt, claimedUntil }: Item, now: number): number {
  if (String(id).startsWith(`${replaysPrefix}#`)) return now + 60_000;
  return typeof claimedUntil === 'number' ? claimedUntil : Date.parse(String(dueAt).slice(0, 24));
}
