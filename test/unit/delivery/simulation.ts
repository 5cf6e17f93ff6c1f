import { DeleteCommand, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { parseScope } from '../../../lambdas/auth/principals/scope.ts';
import type { BearerAuthentication } from '../../../lambdas/auth/sessions/bearer.ts';
import { composeDeliveriesApi } from '../../../lambdas/base-api/deliveries-api.composition.ts';
import { makeResend } from '../../../lambdas/delivery/api/resend.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { slownessId } from '../../../lambdas/delivery/isolation/slow-since.ts';
import { nextSlots, recovered, slotInterval, withSlowDns } from '../../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore } from '../../../lambdas/delivery/isolation/slowness-store.ts';
import type { Lane } from '../../../lambdas/delivery/lane-routing.ts';
import { makeAttemptQueue } from '../../../lambdas/delivery/queues.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/store/delivery-store.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import { composeDeliver } from '../../../lambdas/delivery/worker/deliver.composition.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { HttpRequest, HttpResponse } from '../../../lambdas/platform/http.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { frozenClock } from '../../support/clock.ts';
import type { Database } from '../../support/database/database.ts';
import { aWebhook, fakeTelemetry } from './builders.ts';
import { makeCallers } from './simulation/callers.ts';
import { environment } from './simulation/environment.ts';
import { type Crash, makeProcesses, type Process } from './simulation/processes.ts';
import { makeQueues } from './simulation/queues.ts';
import { makeReceivers } from './simulation/receivers.ts';
import { makeServices } from './simulation/services.ts';

export type { Crash } from './simulation/processes.ts';

/** The waits of the simulation: two for the queue, one for the sweeper. */
export const schedule = [5_000, 5 * 60_000, 30 * 60_000];

/** A request to the history's API. */
export interface Sent {
  readonly body?: unknown;
  /** In place of the JSON of `body`. */
  readonly raw?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** `<role>|<scope> <scope>|<account>`; an administrator of `conta-1` with both scopes unless told otherwise. */
  readonly token?: string;
}

/** The API's answer. */
export interface Answered {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON freely
  readonly json: any;
}

export const authenticate: BearerAuthentication = async authorization => {
  if (authorization === undefined || !authorization.startsWith('Bearer ')) return { outcome: 'missing' };
  const [role, scopes, accountId = ''] = authorization.slice('Bearer '.length).split('|');
  if (role !== 'admin' && role !== 'member') return { outcome: 'invalid' };
  const granted = parseScope(scopes ?? '') ?? new Set();
  const principal = { clientId: 'c', userId: 'u', sessionId: 'f', role, scopes: granted, accountId } as const;
  return { outcome: 'authenticated', principal };
};

export const toRequest = (method: string, rawPath: string, { body, raw, query = '', headers, token }: Sent) => {
  const bytes = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return {
    rawPath,
    rawQueryString: query,
    headers: {
      authorization: `Bearer ${token ?? 'admin|webhooks:read webhooks:manage|conta-1'}`,
      ...(bytes !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    requestContext: { http: { method } },
    ...(bytes !== undefined && { body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true }),
  } as unknown as HttpRequest;
};

const queueNames = { first: 'events', retry: 'retries', slow: 'slow' } as const;

/** Returns whether the sweeper comes to an item by itself: not to a held one, nor to one that waits for a slot by another's task. */
const isLookedAt = ({ state, dueAt, dueShard }: Item): boolean =>
  dueAt !== undefined && state !== 'held' && !String(dueShard).startsWith('backlog#');

const keyNames: Record<'Deliveries' | 'Webhooks', readonly string[]> = {
  Deliveries: ['id', 'part'],
  Webhooks: ['accountId', 'eventName'],
};

const emptyTables = async ({ dynamo }: Database) => {
  for (const [TableName, names] of Object.entries(keyNames)) {
    for (let isWhole = false; !isWhole; ) {
      const { Items = [], LastEvaluatedKey } = await dynamo(new ScanCommand({ TableName }));
      for (const item of Items) {
        const Key = Object.fromEntries(names.map(name => [name, item[name]]));
        await dynamo(new DeleteCommand({ TableName, Key }));
      }
      isWhole = LastEvaluatedKey === undefined;
    }
  }
};

/**
 * The whole of delivery in one process: the functions as they are deployed, over a real store, queues that deliver at least once, a
 * clock that only moves when told or when all that is left to do is to wait, receivers that answer what they are told, and processes
 * that die at any step. Begins with empty tables.
 *
 * @param waits - those of the retry schedule, in milliseconds.
 */
export const simulate = async (database: Database, waits: readonly number[] = schedule) => {
  await emptyTables(database);
  const clock = frozenClock();
  const { now } = clock;
  const telemetry = fakeTelemetry();
  const startProcess = makeProcesses(clock);
  const { queues, deadLetters, ...sqsService } = makeQueues(now);
  const receivers = makeReceivers();
  const callers = makeCallers(now);
  const services = makeServices({ database, sqs: sqsService.send, receivers, callers });
  const { outsideOf } = services;

  /** Tests have a process that does not die. */
  const own = outsideOf(startProcess());
  const stored = { ...own.time, dynamo: own.dynamo, table: 'Deliveries', historyDays: environment.HISTORY_DAYS };
  const deliveries = makeDeliveryStore(stored);
  const retryQueue = makeAttemptQueue({ ...own.time, sqs: own.sqs, queueUrl: environment.RETRY_QUEUE_URL });
  const resend = makeResend({ ...telemetry, ...own.time, store: deliveries, retryQueue });
  const webhooks = makeWebhookStore({ dynamo: own.dynamo, table: 'Webhooks' });
  const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
  /** Past what comes between. */
  const slownessNow = makeSlownessStore({ ...stored, dynamo: database.dynamo, rate: environment.SLOW_RATE });

  /** Has a function's processes serve one invocation at a time. One that lives on serves the next. */
  const serve = <Handler>(compose: (process: Process) => Handler) => {
    const idle: { readonly process: Process; readonly handler: Handler }[] = [];
    const start = (process = startProcess()) => ({ process, handler: compose(process) });
    return async (invoke: (handler: Handler) => Promise<unknown>, planned?: Crash): Promise<boolean> => {
      const { process, handler } = idle.pop() ?? start();
      const isAlive = await process.run(() => invoke(handler), planned);
      if (isAlive) idle.push({ process, handler });
      return isAlive;
    };
  };
  const serveLane = (lane: Lane) => {
    const own = { LANE: lane, QUEUE_URL: queueNames[lane], RETRY_SCHEDULE: [...waits] };
    return serve(process => composeDeliver({ ...environment, ...own }, outsideOf(process, lane), telemetry));
  };
  const later = { retry: serveLane('retry'), slow: serveLane('slow') };
  const sweeper = serve(process => composeSweep(environment, outsideOf(process), telemetry));
  const api = serve(process => composeDeliveriesApi(environment, outsideOf(process), telemetry));

  /**
   * Takes the next visible message, and deletes it unless its process died, did not acknowledge it, or the queue delivers it twice.
   * Each message of the first lane gets a process of its own.
   */
  const consume = async (lane: Lane, planned?: Crash, isTwice = false) => {
    const queue = queues[queueNames[lane]];
    const record = sqsService.take(queue);
    if (!record) return false;
    const end = now() + consumerTimeout;
    const context = { getRemainingTimeInMillis: () => end - now() };
    let isProcessed = false;
    const invoke = lane === 'first' ? serveLane(lane) : later[lane];
    await invoke(async consumer => {
      const { batchItemFailures } = await consumer({ Records: [record] }, context);
      isProcessed = batchItemFailures.length === 0;
    }, planned);
    if (isProcessed && !isTwice) sqsService.remove(queue, record.messageId);
    return true;
  };

  const sweep = (planned?: Crash) =>
    sweeper(run => run(undefined, { getRemainingTimeInMillis: () => sweepTimeout }), planned);

  const storedItems = async () => {
    const found = await database.dynamo(new ScanCommand({ TableName: 'Deliveries', ConsistentRead: true }));
    return found.Items ?? [];
  };

  /** Everything but the answers of receivers. */
  const items = async () => (await storedItems()).filter(({ part }) => part === headPart);

  const all = async (): Promise<Delivery[]> => {
    const found = (await items()).filter(({ id }) => !id.includes('#')).map(deliveryFromItem);
    return found.toSorted((one, other) => one.id.localeCompare(other.id));
  };

  return {
    ...telemetry,
    clock,
    posts: receivers.posts,
    answers: receivers.answers,
    during: receivers.during,
    losing: services.losing,
    between: (name: string, act: () => Promise<unknown>) => void services.between.push({ name, act }),
    webhooks,
    deadLetters,
    retries: queues.retries,
    slow: queues.slow,
    store: deliveries,
    resend,
    announced: services.announced,
    notices: services.notices,
    topic: services.topic,
    table: services.table,
    items,
    /** The answers of receivers that have items of their own, those that no record names among them. */
    answerItems: async () => (await storedItems()).filter(({ part }) => part !== headPart),
    all,
    /** Returns the names of the errors for which messages were deferred so far. */
    deferrals: () => {
      const deferred = telemetry.lines
        .map(line => JSON.parse(line))
        .filter(([message]) => message === 'message.deferred');
      return deferred.map(([, { errorName }]): string => errorName);
    },
    /** Puts a message on the events queue. */
    publish: (message: object | string, texts?: Record<string, string>, sender?: string) =>
      sqsService.put(queues.events, typeof message === 'string' ? message : JSON.stringify(message), { texts, sender }),
    register: async (changes: Partial<Webhook> = {}) => {
      const Item = aWebhook({ createdAt: now(), updatedAt: now(), ...changes });
      await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item }));
    },
    /** The webhook as it is stored. */
    webhook: async () => (await database.dynamo(new GetCommand({ TableName: 'Webhooks', Key: owner }))).Item,
    remove: async () => {
      await database.dynamo(new DeleteCommand({ TableName: 'Webhooks', Key: owner }));
    },
    /** Returns the slowness of the receiver, as it is stored. */
    slowness: () => slownessNow.read(slownessId(owner)),
    /** Has the receiver found slow. */
    slowDown: () => slownessNow.change(owner, slowness => withSlowDns(slowness, now())),
    /** Has it found quick again. */
    speedUp: () => slownessNow.change(owner, slowness => recovered(slowness, now())),
    /** Takes all slots of the next 90 s, as other deliveries would. */
    takeSlots: async () => {
      const slowness = await slownessNow.change(owner, known => known);
      const interval = slotInterval(slowness, environment.SLOW_RATE);
      const { after } = nextSlots(slowness, interval, now());
      await slownessNow.reserveUntil(slowness, { ...after, nextSlotAt: Math.max(after.nextSlotAt, now() + 90_000) });
    },
    /** First attempt of the next event. */
    deliverNext: (planned?: Crash, isTwice?: boolean) => consume('first', planned, isTwice),
    /** Attempt of the next message of the retry queue. */
    retryNext: (planned?: Crash, isTwice?: boolean) => consume('retry', planned, isTwice),
    /** Attempt of the next message of the slow queue. */
    retrySlowNext: (planned?: Crash, isTwice?: boolean) => consume('slow', planned, isTwice),
    /** A request to the history's API; nothing comes back from a process that dies. */
    request: async (method: string, path: string, sent: Sent = {}, planned?: Crash): Promise<Answered | undefined> => {
      const request = toRequest(method, path, sent);
      const authorization = await callers.authorization(request.headers.authorization ?? '');
      let response: HttpResponse | undefined;
      await api(async answer => {
        response = await answer({ ...request, headers: { ...request.headers, authorization } });
      }, planned);
      if (!response) return undefined;
      const { statusCode: status, headers = {}, body = '' } = response;
      return { status, headers, json: body === '' ? undefined : JSON.parse(body) };
    },
    /** One run of the sweeper, which publishes announcements, too. */
    sweep,
    /** Lets everything run its course without further accidents. */
    settle: async () => {
      for (let step = 0; step < 2_000; step++) {
        if (await consume('first')) continue;
        if ((await consume('retry')) || (await consume('slow'))) continue;
        const waiting = (await items()).filter(isLookedAt);
        const looks = waiting.map(({ dueAt, claimedUntil }) => claimedUntil ?? Date.parse(String(dueAt).slice(0, 24)));
        const times = [...looks, ...Object.values(queues).flatMap(queue => queue.map(({ visibleAt }) => visibleAt))];
        if (times.length === 0) return;
        clock.set(Math.max(now(), Math.min(...times)));
        if (looks.some(sweepAt => sweepAt <= now())) await sweep();
      }
      throw new Error('The simulation does not come to rest.');
    },
  };
};

/** The time that an invocation of a consumer may take, in milliseconds. */
const consumerTimeout = 45_000;

/** What is always left of it to a sweep: one that stands still for long is to do as much harm as it can. */
const sweepTimeout = 55_000;
