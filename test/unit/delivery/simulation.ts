import { AsyncLocalStorage } from 'node:async_hooks';
import type { SendMessageCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import { DeleteCommand, GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { resourcesOf } from '../../../lambdas/api/route.ts';
import { makeApi } from '../../../lambdas/api/router.ts';
import { parseScope } from '../../../lambdas/auth/principals/scope.ts';
import type { BearerAuthentication } from '../../../lambdas/auth/sessions/bearer.ts';
import { makeDeliveryHandlers } from '../../../lambdas/delivery/api/deliveries.ts';
import { deliveryApiProblems } from '../../../lambdas/delivery/api/problems.ts';
import { makeReplayHandlers } from '../../../lambdas/delivery/api/replays.ts';
import { makeRequestLimits } from '../../../lambdas/delivery/api/request-limits.ts';
import { makeResend } from '../../../lambdas/delivery/api/resend.ts';
import { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import { makeSendTest } from '../../../lambdas/delivery/api/test-event.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { makeMoveToDeadLetters } from '../../../lambdas/delivery/intake/dead-letters.ts';
import { makeWithoutWebhook } from '../../../lambdas/delivery/intake/without-webhook.ts';
import { makeAdmission } from '../../../lambdas/delivery/isolation/admission.ts';
import { makeConcurrencyLimit } from '../../../lambdas/delivery/isolation/concurrency-limit.ts';
import { makeDnsTimeouts } from '../../../lambdas/delivery/isolation/dns-timeouts.ts';
import { makeRecentCounts } from '../../../lambdas/delivery/isolation/recent-counts.ts';
import { makeSendAgain } from '../../../lambdas/delivery/isolation/send-again.ts';
import { makeSlotReservations } from '../../../lambdas/delivery/isolation/slot-reservations.ts';
import { makeMoveToSlowLane } from '../../../lambdas/delivery/isolation/slow-lane.ts';
import { makeJudgeTurn } from '../../../lambdas/delivery/isolation/slow-lane-turn.ts';
import { nextSlots, recovered, slotInterval, withSlowDns } from '../../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore } from '../../../lambdas/delivery/isolation/slowness-store.ts';
import { makeSlownessTracker } from '../../../lambdas/delivery/isolation/slowness-tracker.ts';
import { makeWaitInTable } from '../../../lambdas/delivery/isolation/wait-in-table.ts';
import type { Lane } from '../../../lambdas/delivery/lane-routing.ts';
import { attemptsPerWebhook } from '../../../lambdas/delivery/limits.ts';
import { makeAttemptQueue, makeHasMessages } from '../../../lambdas/delivery/queues.ts';
import { makeRefusalCounts, makeRefusalTotals } from '../../../lambdas/delivery/refusals/refusal-counts.ts';
import { makeRefusalNotices } from '../../../lambdas/delivery/refusals/refusal-notices.ts';
import type { PublishNotice } from '../../../lambdas/delivery/refusals/refused-events-topic.ts';
import { makeSuppressedRefusalsTask } from '../../../lambdas/delivery/refusals/suppressed-refusals.ts';
import { makeReplayTask, makeRunReplay, replayPage } from '../../../lambdas/delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../../../lambdas/delivery/replay/replay-start.ts';
import { makeReplayStore } from '../../../lambdas/delivery/replay/replay-store.ts';
import { makeReadHistory } from '../../../lambdas/delivery/store/delivery-history.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/store/delivery-store.ts';
import { makeFindDeliveryWithWebhook, makeFindWebhook } from '../../../lambdas/delivery/store/find-webhook.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { makeReadAnswers } from '../../../lambdas/delivery/store/read-answers.ts';
import { makeWebhookHealthStore } from '../../../lambdas/delivery/store/webhook-health-store.ts';
import {
  makePublishAnnouncements,
  type PublishedAnnouncement,
} from '../../../lambdas/delivery/sweeper/announcements.ts';
import { makeSlowBacklogTask } from '../../../lambdas/delivery/sweeper/slow-backlog.ts';
import { makeSweep } from '../../../lambdas/delivery/sweeper/sweep.ts';
import { makeApplyOutcome } from '../../../lambdas/delivery/transitions.ts';
import { makeAttempt } from '../../../lambdas/delivery/worker/attempt.ts';
import { makeStartAttemptWatch } from '../../../lambdas/delivery/worker/attempt-watch.ts';
import { makeFirstAttempt } from '../../../lambdas/delivery/worker/first-attempt.ts';
import { makeProcessDelivery } from '../../../lambdas/delivery/worker/process-delivery.ts';
import { makeRetry } from '../../../lambdas/delivery/worker/retry.ts';
import { makeSuspensions } from '../../../lambdas/delivery/worker/suspensions.ts';
import { makeWebhookHealth } from '../../../lambdas/delivery/worker/webhook-health.ts';
import { makeFindWebhookState } from '../../../lambdas/delivery/worker/webhook-state.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { GuardedPost, PostOutcome } from '../../../lambdas/platform/egress/guarded-post.ts';
import type { HttpRequest, HttpResponse } from '../../../lambdas/platform/http.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { slownessId } from '../../../lambdas/delivery/isolation/slow-since.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookNotFound } from '../../../lambdas/webhooks/webhook-not-found.ts';
import { makeWebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { makeReadWithoutWebhook } from '../../../lambdas/delivery/intake/without-webhook.ts';
import { frozenClock } from '../../support/clock.ts';
import type { Database } from '../../support/database/database.ts';
import { answer, aWebhook, fakeSealing, fakeTelemetry, neverLate } from './builders.ts';

/** The waits of the simulation: two for the queue, one for the sweeper. */
export const schedule = [5_000, 5 * 60_000, 30 * 60_000];

/** The time that a queue hides a message that was received and neither deleted nor reported, in milliseconds. */
const visibility = 180_000;

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAt: number;
  readonly messageAttributes: SQSRecord['messageAttributes'];
  readonly sender?: string;
  visibleAt: number;
}

/** One POST that left the service. */
interface Posted {
  readonly id: string;
  readonly body: string;
  readonly url: string;
  readonly at: number;
  readonly status: number | undefined;
  readonly lane: Lane;
}

/** A step at which the process dies: this many calls from now, before or after the call has its effect. */
export interface Crash {
  readonly afterCalls: number;
  readonly hasEffect: boolean;
}

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

/** Slots a second that a slow webhook has. */
const slowRate = 20;

/** Whether a message stays in its queue, hidden for so long. */
const isHidden = (outcome: unknown): outcome is { hiddenFor: number } =>
  typeof outcome === 'object' && outcome !== null && 'hiddenFor' in outcome;

class ProcessDied extends Error {}

/** Returns whether the sweeper comes to an item by itself: not to a held one, nor to one that waits for a slot by another's task. */
const isLookedAt = ({ state, dueAt, dueShard }: Item): boolean =>
  dueAt !== undefined && state !== 'held' && !String(dueShard).startsWith('backlog#');

/** A process of the simulation: a function's invocation. */
interface Process {
  crash: Crash | undefined;
  isDead: boolean;
  readonly die: () => void;
  /** Calls under way: what had left the process when it died still arrives. */
  readonly calls: Set<Promise<unknown>>;
}

const nothing = <Result>(): Promise<Result> => new Promise<never>(() => {});

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
 * The whole of delivery in one process: the production units over a real store, queues that deliver at least once, a
 * clock that only moves when told, receivers that answer what they are told, and processes that die at any step. Begins with
 * empty tables.
 *
 * @param page - deliveries that a replay looks at between two saves.
 * @param waits - those of the retry schedule, in milliseconds.
 */
export const simulate = async (database: Database, page = replayPage, waits: readonly number[] = schedule) => {
  await emptyTables(database);
  const clock = frozenClock();
  const telemetry = fakeTelemetry();
  const events: Message[] = [];
  const retries: Message[] = [];
  const slow: Message[] = [];
  /** Their bodies, and their attributes by name. */
  const deadLetters: { body: string; [attribute: string]: string | undefined }[] = [];
  const posts: Posted[] = [];
  const announced: PublishedAnnouncement[] = [];
  /** The notices that the topic of refused events got; while it is down, none. */
  const notices: Parameters<PublishNotice>[0][] = [];
  const topic = { isDown: false };
  /** Whether the answer of each update is lost, and the SDK repeats it. */
  const table = { repeatsUpdates: false };
  const answers: PostOutcome[] = [];
  /** Actions that happen while the next attempts are under way. */
  const during: (() => Promise<unknown>)[] = [];
  /** Actions that come between: each happens when the next call of its name is about to be made. */
  const between: { readonly name: string; readonly act: () => Promise<unknown> }[] = [];
  /** The names of calls whose next answer is lost: it takes effect, and nobody hears of it. */
  const losing: string[] = [];
  let messages = 0;

  /** Makes a call, after what was to come between. */
  const send = async <Result>(command: object, effect: () => Promise<Result>): Promise<Result> => {
    const { name: called } = command.constructor;
    const at = between.findIndex(({ name }) => name === called);
    if (at >= 0) await between.splice(at, 1)[0]?.act();
    const answer = await call(effect);
    if (!losing.includes(called)) return answer;
    losing.splice(losing.indexOf(called), 1);
    throw Object.assign(new Error('The answer is lost.'), { name: 'TimeoutError' });
  };

  const isVisible = ({ visibleAt }: Message) => visibleAt <= clock.now();
  const processes = new AsyncLocalStorage<Process>();

  /** Every call that leaves a process goes through here, and may be its last. */
  const call = async <Result>(effect: () => Promise<Result>): Promise<Result> => {
    const process = processes.getStore();
    if (!process) return effect();
    if (process.isDead) return nothing();
    const isLast = process.crash?.afterCalls === 0;
    if (process.crash) process.crash = { ...process.crash, afterCalls: process.crash.afterCalls - 1 };
    process.isDead = isLast;
    if (isLast && !process.crash?.hasEffect) {
      process.die();
      return nothing();
    }
    const result = effect();
    process.calls.add(result);
    await Promise.allSettled([result]);
    if (isLast) process.die();
    return process.isDead ? nothing() : result;
  };

  const put = (
    queue: Message[],
    body: string,
    delaySeconds = 0,
    texts: Record<string, string> = {},
    sender = 'AROAPUBLISHER:one',
  ) => {
    if (delaySeconds > 900 || !Number.isInteger(delaySeconds)) throw new Error(`DelaySeconds ${delaySeconds}`);
    const messageId = `message-${++messages}`;
    const messageAttributes = Object.fromEntries(
      Object.entries(texts).map(([name, stringValue]) => [name, { dataType: 'String', stringValue }]),
    );
    const visibleAt = clock.now() + delaySeconds * 1_000;
    queue.push({ messageId, body, sentAt: clock.now(), messageAttributes, sender, visibleAt });
  };

  /** Deletes a message, if it is still there. A message's id is its receipt, too. */
  const remove = (queue: Message[], receipt: string) => {
    const at = queue.findIndex(({ messageId }) => messageId === receipt);
    if (at !== -1) queue.splice(at, 1);
    return {};
  };

  /** Of the retry and the slow queue: whether anything in it may be received. */
  const areThereAny = ({ QueueUrl }: { QueueUrl: string }) => {
    const queue = { events, retries, slow }[QueueUrl] ?? [];
    return { Attributes: { ApproximateNumberOfMessages: String(queue.filter(isVisible).length) } };
  };

  type Entry = Pick<SendMessageCommandInput, 'DelaySeconds' | 'MessageAttributes'> & { MessageBody: string };
  type Call = Entry & { QueueUrl: string; Entries?: Entry[]; AttributeNames?: []; ReceiptHandle?: string };
  const sendTo = async ({ input }: { input: Call }) => {
    if (input.AttributeNames) return areThereAny(input);
    if (input.ReceiptHandle !== undefined) return remove(events, input.ReceiptHandle);
    for (const { MessageBody: body, DelaySeconds, MessageAttributes = {} } of input.Entries ?? [input]) {
      if (input.QueueUrl === 'retries') put(retries, body, DelaySeconds);
      else if (input.QueueUrl === 'slow') put(slow, body, DelaySeconds);
      else {
        const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]);
        deadLetters.push({ body, ...Object.fromEntries(attributes) });
      }
    }
    return {};
  };
  const sqs = {
    send: (command: Parameters<typeof sendTo>[0]) => send(command, () => sendTo(command)),
  } as unknown as Pick<SQSClient, 'send'>;
  const dynamo = ((command: PutCommand | UpdateCommand) =>
    send(command, async () => {
      const isRepeated = table.repeatsUpdates && command instanceof UpdateCommand;
      if (isRepeated) await database.dynamo(command).catch(() => {});
      return database.dynamo(command as PutCommand);
    })) as unknown as Dynamo;

  const { now } = clock;
  const store = makeDeliveryStore({ dynamo, table: 'Deliveries', now, historyDays: 30 });
  const retryQueue = makeAttemptQueue({ sqs, queueUrl: 'retries', now });
  const slowQueue = makeAttemptQueue({ sqs, queueUrl: 'slow', now });
  const queues = { retry: retryQueue, slow: slowQueue };
  const slownessStore = makeSlownessStore({ dynamo, table: 'Deliveries', now, rate: slowRate });
  /** Of a process of its own: the reservations of one that died are never answered. */
  const makeSlots = () => ({
    reserveSlot: makeSlotReservations(slownessStore),
    waitInTable: makeWaitInTable({ ...telemetry, slownessStore, now }),
  });
  const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
  /** The same, of a process that does not die. */
  const slownessNow = makeSlownessStore({ dynamo: database.dynamo, table: 'Deliveries', now, rate: slowRate });

  let timers: { readonly at: number; act(): void }[] = [];
  const after = (milliseconds: number, act: () => void) => {
    const timer = { at: now() + milliseconds, act };
    timers.push(timer);
    return () => {
      timers = timers.filter(other => other !== timer);
    };
  };
  /** Lets time go by for an attempt that is under way, timer by timer, unless it is given up. */
  const letPass = async (milliseconds: number, signal: AbortSignal | undefined) => {
    const until = now() + milliseconds;
    for (;;) {
      const next = timers.toSorted((one, other) => one.at - other.at).find(({ at }) => at <= until);
      clock.set(next ? Math.max(next.at, now()) : until);
      if (!next) return;
      timers = timers.filter(timer => timer !== next);
      next.act();
      await new Promise(resolve => setTimeout(resolve, 5)); // the queue is asked
      if (signal?.aborted) return;
    }
  };
  const postIn =
    (lane: Lane): GuardedPost =>
    ({ url, headers, body, signal, onConnecting, onAnswered }) =>
      call(async () => {
        const startedAt = now();
        onConnecting?.();
        await during.shift()?.();
        const posted = answers.shift() ?? answer(200);
        const seen = posts.push({ id: headers['webhook-id'] ?? '', body, url, at: now(), status: undefined, lane }) - 1;
        // Only what is slow takes time.
        if ((posted.sinceConnectingMs ?? 0) > 1_000) await letPass(posted.sinceConnectingMs ?? 0, signal);
        const took = now() - startedAt;
        if (signal?.aborted) return { outcome: 'given_up', durationMs: took, resolutionMs: 0, sinceConnectingMs: took };
        onAnswered?.();
        const status = posted.outcome === 'response' ? posted.status : undefined;
        posts[seen] = { ...(posts[seen] as Posted), status };
        return posted;
      });

  const health = makeWebhookHealth({
    ...telemetry,
    store: makeWebhookHealthStore({ dynamo, table: 'Webhooks', now }),
    now,
  });
  const applyOutcome = makeApplyOutcome({ schedule: waits, now, random: () => 0.5 });
  const suspensions = makeSuspensions({ health, store, applyOutcome });
  const processIn = (lane: Lane) =>
    makeProcessDelivery({
      ...telemetry,
      now,
      random: () => 0.5,
      lane,
      queues,
      startAttemptWatch: makeStartAttemptWatch({
        tracker: makeSlownessTracker({ ...telemetry, store: slownessStore, quickCounts: makeRecentCounts(), now }),
        eventLoopLag: { begin: () => ({ ...neverLate.begin(), elapsed: now }) },
        dnsTimeouts: makeDnsTimeouts(now),
        hasMessages: makeHasMessages({
          ...telemetry,
          sqs,
          queueUrl: { first: 'events', retry: 'retries', slow: 'slow' }[lane],
          now,
        }),
        after,
        now,
        lane,
        giveUp: 'waiting',
        attemptTimeoutMs: 15_000,
      }),
      moveToSlowLane: makeMoveToSlowLane({ ...telemetry, ...makeSlots(), store, slowQueue, lane, now }),
      health,
      suspensions,
      applyOutcome,
      attempt: makeAttempt({
        sealing: fakeSealing,
        eventLoopLag: neverLate,
        now,
        attemptTimeoutMs: 15_000,
        connectTimeoutMs: 700,
        serviceVersion: '0',
        post: postIn(lane),
      }),
    });
  const dependencies = {
    ...telemetry,
    sendAgain: makeSendAgain({ ...telemetry, slowQueue }),
    suspensions,
    store,
    now,
    findWebhookState: makeFindWebhookState(store, { deliveries: 'Deliveries', webhooks: 'Webhooks' }),
    moveToDeadLetters: makeMoveToDeadLetters({
      ...telemetry,
      sqs,
      queueUrl: 'events',
      deadLetterQueueUrl: 'dead-letters',
    }),
  };
  // Each of these is a process of its own: what one remembers that died is lost with it.
  const admitIn = (lane: Lane) => makeAdmission({ limit: makeConcurrencyLimit(attemptsPerWebhook), lane });
  const makeCounts = () => makeRefusalCounts({ dynamo, table: 'Deliveries', now, random: Math.random });
  const totals = makeRefusalTotals({ dynamo, table: 'Deliveries', random: Math.random });
  const publishNotice: PublishNotice = notice =>
    call(async () => {
      if (topic.isDown) throw new Error('the topic is down');
      notices.push(notice);
    });
  const firstAttempt = async (record: SQSRecord) => {
    const refusals = makeRefusalNotices({ ...telemetry, counts: makeCounts(), publish: publishNotice, now });
    const withoutWebhook = makeWithoutWebhook({ ...telemetry, dynamo, table: 'Deliveries', now });
    const rest = {
      refusals,
      withoutWebhook,
      processDelivery: processIn('first'),
      demandsUrl: 'https://demandas.com.br',
    };
    await makeFirstAttempt({ ...dependencies, admit: admitIn('first'), ...rest })(record);
    await refusals.settled();
    await withoutWebhook.settled();
  };
  const replays = makeReplayStore({ dynamo, table: 'Deliveries', now, historyDays: 30 });
  const judgeIn = (lane: Lane) => makeJudgeTurn({ ...telemetry, ...makeSlots(), slowRate, lane, now });
  const retryIn = (lane: Lane) => (record: SQSRecord) => {
    const process = { admit: admitIn(lane), judgeTurn: judgeIn(lane), processDelivery: processIn(lane) };
    return makeRetry({ ...dependencies, ...process, replays, lane })(record);
  };
  const retry = retryIn('retry');
  const retrySlow = retryIn('slow');
  const resend = makeResend({ ...telemetry, store, retryQueue, now });

  const findWebhook = makeFindWebhook(dynamo, 'Webhooks');
  const readHistory = makeReadHistory({ dynamo, table: 'Deliveries', store });
  const webhookNotFound = makeWebhookNotFound(makeReadWithoutWebhook({ dynamo, table: 'Deliveries', now }));
  const shared = { ...telemetry, store, retryQueue, findWebhook, webhookNotFound, now };
  const run = makeRunReplay({ ...shared, replays, readHistory, page });
  const publish = (announcement: PublishedAnnouncement) => call(async () => void announced.push(announcement));
  const sweep = makeSweep({
    ...shared,
    queues,
    tasks: {
      replays: makeReplayTask({ replays, run, now }),
      slowness: makeSlowBacklogTask({ ...shared, slownessStore, queues, slowRate }),
      refusals: makeSuppressedRefusalsTask({ ...telemetry, totals, publish: publishNotice, now }),
    },
  });
  const announce = makePublishAnnouncements({ ...telemetry, dynamo, table: 'Webhooks', publish });
  const webhooks = makeWebhookStore({ dynamo, table: 'Webhooks' });
  const limits = makeRequestLimits({ dynamo, table: 'Deliveries', now, testLimit: 10, resendLimit: 60 });
  const api = makeApi({
    log: telemetry.log,
    docsUrl: undefined,
    resourceMetadata: () => 'https://base.example/.well-known/oauth-protected-resource',
    authenticate,
    resources: resourcesOf(deliveryRoutes, deliveryApiProblems, {
      sendTest: makeSendTest({ ...shared, webhooks, limits, demandsUrl: 'https://demandas.com.br', makeId: randomId }),
      ...makeDeliveryHandlers({
        findWebhook,
        webhookNotFound,
        findDeliveryWithWebhook: makeFindDeliveryWithWebhook(store, 'Webhooks'),
        readAnswers: makeReadAnswers({ dynamo, table: 'Deliveries', now }),
        readHistory,
        limits,
        resend,
      }),
      ...makeReplayHandlers({
        ...shared,
        replays,
        startReplay: makeStartReplay({ ...shared, replays, run, makeId: randomId }),
      }),
    }),
  });

  /** Runs a process that may die; false: it did. */
  const survives = async (run: () => Promise<unknown>, crash?: Crash): Promise<boolean> => {
    const { promise: death, reject } = Promise.withResolvers<never>();
    const process: Process = { crash, isDead: false, die: () => reject(new ProcessDied()), calls: new Set() };
    try {
      await Promise.race([processes.run(process, run), death]);
      return true;
    } catch (error) {
      if (error instanceof ProcessDied) return false;
      throw error;
    } finally {
      process.isDead = true;
      await Promise.allSettled(process.calls);
    }
  };

  /** Takes the next visible message, and deletes it unless its process died or the queue delivers it twice. */
  const consume = async (
    queue: Message[],
    process: (record: SQSRecord) => Promise<unknown>,
    planned?: Crash,
    isTwice = false,
  ) => {
    const message = queue.find(isVisible);
    if (!message) return false;
    message.visibleAt = now() + visibility;
    timers = [];
    const { sentAt, sender } = message;
    const attributes = { SentTimestamp: String(sentAt), SenderId: sender, ApproximateReceiveCount: '1' };
    const record = { ...message, receiptHandle: message.messageId, attributes } as unknown as SQSRecord;
    let outcome: unknown;
    const isDone = await survives(async () => {
      outcome = await process(record);
    }, planned);
    if (isDone && isHidden(outcome)) message.visibleAt = now() + Math.ceil(outcome.hiddenFor / 1_000) * 1_000;
    else if (isDone && !isTwice) remove(queue, message.messageId);
    return true;
  };

  const stored = async () => {
    const found = await database.dynamo(new ScanCommand({ TableName: 'Deliveries', ConsistentRead: true }));
    return found.Items ?? [];
  };

  /** Everything but the answers of receivers. */
  const items = async () => (await stored()).filter(({ part }) => part === headPart);

  const all = async (): Promise<Delivery[]> => {
    const deliveries = (await items()).filter(({ id }) => !id.includes('#')).map(deliveryFromItem);
    return deliveries.toSorted((one, other) => one.id.localeCompare(other.id));
  };

  return {
    ...telemetry,
    clock,
    posts,
    answers,
    during,
    losing,
    between: (name: string, act: () => Promise<unknown>) => void between.push({ name, act }),
    webhooks,
    deadLetters,
    retries,
    slow,
    store,
    resend,
    announced,
    notices,
    topic,
    table,
    items,
    /** The answers of receivers that have items of their own, those that no record names among them. */
    answerItems: async () => (await stored()).filter(({ part }) => part !== headPart),
    all,
    /** Puts a message on the events queue. */
    publish: (message: object | string, attributes?: Record<string, string>, sender?: string) =>
      put(events, typeof message === 'string' ? message : JSON.stringify(message), 0, attributes, sender),
    register: async (changes: Partial<Webhook> = {}) => {
      const Item = aWebhook({ createdAt: now(), updatedAt: now(), ...changes });
      await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item }));
    },
    /** The webhook as it is stored. */
    webhook: async () => {
      const Key = { accountId: 'conta-1', eventName: 'demanda.criada' };
      return (await database.dynamo(new GetCommand({ TableName: 'Webhooks', Key }))).Item;
    },
    remove: async () => {
      const Key = { accountId: 'conta-1', eventName: 'demanda.criada' };
      await database.dynamo(new DeleteCommand({ TableName: 'Webhooks', Key }));
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
      const interval = slotInterval(slowness, slowRate);
      const { after } = nextSlots(slowness, interval, now());
      await slownessNow.reserveUntil(slowness, { ...after, nextSlotAt: Math.max(after.nextSlotAt, now() + 90_000) });
    },
    /** First attempt of the next event. */
    deliverNext: (planned?: Crash, isTwice?: boolean) => consume(events, firstAttempt, planned, isTwice),
    /** Attempt of the next message of the retry queue. */
    retryNext: (planned?: Crash, isTwice?: boolean) => consume(retries, retry, planned, isTwice),
    /** Attempt of the next message of the slow queue. */
    retrySlowNext: (planned?: Crash, isTwice?: boolean) => consume(slow, retrySlow, planned, isTwice),
    /** A request to the history's API; nothing comes back from a process that dies. */
    request: async (method: string, path: string, sent: Sent = {}, planned?: Crash): Promise<Answered | undefined> => {
      let response: HttpResponse | undefined;
      await survives(async () => {
        response = await api(toRequest(method, path, sent));
      }, planned);
      if (!response) return undefined;
      const { statusCode: status, headers = {}, body = '' } = response;
      return { status, headers, json: body === '' ? undefined : JSON.parse(body) };
    },
    /** One run of the sweeper. */
    sweep: (planned?: Crash) => survives(() => sweep(() => true), planned),
    /** One run of the announcer. */
    announce: (planned?: Crash) => survives(() => announce(() => true), planned),
    /** Lets everything run its course without further accidents. */
    settle: async () => {
      for (let step = 0; step < 2_000; step++) {
        if (await consume(events, firstAttempt)) continue;
        if ((await consume(retries, retry)) || (await consume(slow, retrySlow))) continue;
        const waiting = (await items()).filter(isLookedAt);
        const looks = waiting.map(({ dueAt, claimedUntil }) => claimedUntil ?? Date.parse(String(dueAt).slice(0, 24)));
        const times = [...looks, ...[...events, ...retries, ...slow].map(({ visibleAt }) => visibleAt)];
        if (times.length === 0) return;
        clock.set(Math.max(now(), Math.min(...times)));
        if (looks.some(sweepAt => sweepAt <= now())) await survives(() => sweep(() => true));
      }
      throw new Error('The simulation does not come to rest.');
    },
  };
};
