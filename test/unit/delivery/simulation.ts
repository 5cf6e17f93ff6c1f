import { AsyncLocalStorage } from 'node:async_hooks';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { makeAttempt } from '../../../lambdas/delivery/attempt.ts';
import { makeDeadLetters } from '../../../lambdas/delivery/dead-letters.ts';
import { makeDeliver } from '../../../lambdas/delivery/deliver.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/delivery-item.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/delivery-store.ts';
import { makeNoteHealth } from '../../../lambdas/delivery/health-notes.ts';
import { makeAfterAttempt } from '../../../lambdas/delivery/lifecycle.ts';
import { makeLookup } from '../../../lambdas/delivery/lookup.ts';
import { makeRedeliver } from '../../../lambdas/delivery/redeliver.ts';
import { makeResend } from '../../../lambdas/delivery/resend.ts';
import { makeRetryQueue } from '../../../lambdas/delivery/retry-queue.ts';
import { makeSweep } from '../../../lambdas/delivery/sweep.ts';
import { makeTakeTurn } from '../../../lambdas/delivery/turn.ts';
import { makeWebhookHealth } from '../../../lambdas/delivery/webhook-health.ts';
import type { PostOutcome } from '../../../lambdas/platform/egress/guarded-post.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { frozenClock } from '../../support/clock.ts';
import type { Dynalite } from '../../support/dynalite.ts';
import { answer, aWebhook, fakeSealing, fakeTelemetry } from './builders.ts';

/** The waits of the simulation: two for the queue, one for the sweeper. */
export const schedule = [5_000, 5 * 60_000, 30 * 60_000];

/** How long a queue hides a message that was received and neither deleted nor reported. */
const visibility = 180_000;

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAt: number;
  visibleAt: number;
}

/** One POST that left the service. */
interface Posted {
  readonly id: string;
  readonly body: string;
  readonly url: string;
  readonly at: number;
  readonly status: number | undefined;
}

/** A step at which the process dies: so many calls from now, before or after the call has its effect. */
export interface Crash {
  readonly afterCalls: number;
  readonly hasEffect: boolean;
}

class ProcessDied extends Error {}

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
  Deliveries: ['id'],
  Webhooks: ['accountId', 'evento'],
};

const emptyTables = async ({ documents }: Dynalite) => {
  for (const [TableName, names] of Object.entries(keyNames)) {
    const { Items = [] } = await documents.send(new ScanCommand({ TableName }));
    for (const item of Items) {
      const Key = Object.fromEntries(names.map(name => [name, item[name]]));
      await documents.send(new DeleteCommand({ TableName, Key }));
    }
  }
};

/**
 * The whole of delivery in one process: the production units over a real store, queues that deliver at least once, a
 * clock that only moves when told, receivers that answer what they are told, and processes that die at any step. Begins with
 * empty tables.
 */
export const simulate = async (dynalite: Dynalite) => {
  await emptyTables(dynalite);
  const clock = frozenClock();
  const telemetry = fakeTelemetry();
  const events: Message[] = [];
  const retries: Message[] = [];
  const deadLetters: { body: string; reason: string }[] = [];
  const posts: Posted[] = [];
  const answers: PostOutcome[] = [];
  let messages = 0;

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
    await result;
    if (isLast) process.die();
    return process.isDead ? nothing() : result;
  };

  const put = (queue: Message[], body: string, delaySeconds = 0) => {
    if (delaySeconds > 900 || !Number.isInteger(delaySeconds)) throw new Error(`DelaySeconds ${delaySeconds}`);
    const messageId = `message-${++messages}`;
    queue.push({ messageId, body, sentAt: clock.now(), visibleAt: clock.now() + delaySeconds * 1_000 });
  };

  type Entry = { MessageBody: string; DelaySeconds?: number; MessageAttributes?: { reason: { StringValue: string } } };
  const sendTo = async ({ input }: { input: Entry & { QueueUrl: string; Entries?: Entry[] } }) => {
    for (const { MessageBody: body, DelaySeconds, MessageAttributes } of input.Entries ?? [input]) {
      if (input.QueueUrl === 'retries') put(retries, body, DelaySeconds);
      else deadLetters.push({ body, reason: MessageAttributes?.reason.StringValue ?? '' });
    }
    return {};
  };
  const sqs = {
    send: (command: Parameters<typeof sendTo>[0]) => call(() => sendTo(command)),
  } as unknown as Pick<SQSClient, 'send'>;
  const documents = {
    send: (command: PutCommand) => call(() => dynalite.documents.send(command)),
  } as unknown as Pick<DynamoDBDocumentClient, 'send'>;

  const { now } = clock;
  const store = makeDeliveryStore({ documents, table: 'Deliveries', now, historyDays: 30 });
  const retryQueue = makeRetryQueue({ sqs, queueUrl: 'retries', now });
  const takeTurn = makeTakeTurn({
    ...telemetry,
    now,
    retryQueue,
    noteHealth: makeNoteHealth({
      ...telemetry,
      health: makeWebhookHealth({ documents, table: 'Webhooks', now }),
      now,
    }),
    afterAttempt: makeAfterAttempt({ schedule, now, random: () => 0.5 }),
    attempt: makeAttempt({
      sealing: fakeSealing,
      now,
      timeoutMs: 15_000,
      serviceVersion: '0',
      post: ({ url, headers, body }) =>
        call(async () => {
          const posted = answers.shift() ?? answer(200);
          const status = posted.outcome === 'response' ? posted.status : undefined;
          posts.push({ id: headers['webhook-id'] ?? '', body, url, at: now(), status });
          return posted;
        }),
    }),
  });
  const dependencies = {
    ...telemetry,
    store,
    takeTurn,
    now,
    lookup: makeLookup(store, 'Webhooks'),
    sendToDeadLetters: makeDeadLetters({ sqs, queueUrl: 'dead-letters' }),
  };
  const deliver = makeDeliver({ ...dependencies, demandsUrl: 'https://demandas.com.br' });
  const redeliver = makeRedeliver(dependencies);
  const resend = makeResend({ ...telemetry, store, retryQueue, now });
  const sweep = makeSweep({ ...telemetry, store, retryQueue, now });

  /** Runs a process that may die; false: it did. */
  const survives = async (run: () => Promise<void>, crash?: Crash): Promise<boolean> => {
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
  const consume = async (queue: Message[], process: typeof deliver, planned?: Crash, isTwice = false) => {
    const message = queue.find(({ visibleAt }) => visibleAt <= now());
    if (!message) return false;
    message.visibleAt = now() + visibility;
    const attributes = { SentTimestamp: String(message.sentAt), ApproximateReceiveCount: '1' };
    const isDone = await survives(() => process({ ...message, attributes } as unknown as SQSRecord), planned);
    if (isDone && !isTwice) queue.splice(queue.indexOf(message), 1);
    return true;
  };

  const all = async (): Promise<Delivery[]> => {
    const found = await dynalite.documents.send(new ScanCommand({ TableName: 'Deliveries', ConsistentRead: true }));
    return (found.Items ?? []).map(deliveryFromItem).toSorted((one, other) => one.id.localeCompare(other.id));
  };

  return {
    ...telemetry,
    clock,
    posts,
    answers,
    deadLetters,
    retries,
    store,
    resend,
    all,
    /** Puts a message on the events queue. */
    publish: (message: object | string) => put(events, typeof message === 'string' ? message : JSON.stringify(message)),
    register: async (changes: Partial<Webhook> = {}) => {
      const Item = aWebhook({ createdAt: now(), updatedAt: now(), ...changes });
      await dynalite.documents.send(new PutCommand({ TableName: 'Webhooks', Item }));
    },
    remove: async () => {
      const Key = { accountId: 'conta-1', evento: 'demanda.criada' };
      await dynalite.documents.send(new DeleteCommand({ TableName: 'Webhooks', Key }));
    },
    /** First attempt of the next event. */
    deliverNext: (planned?: Crash, isTwice?: boolean) => consume(events, deliver, planned, isTwice),
    /** Attempt of the next message of the retry queue. */
    redeliverNext: (planned?: Crash, isTwice?: boolean) => consume(retries, redeliver, planned, isTwice),
    /** One run of the sweeper. */
    sweep: (planned?: Crash) => survives(() => sweep(() => true), planned),
    /** Lets everything run its course without further accidents. */
    settle: async () => {
      for (let step = 0; step < 400; step++) {
        if ((await consume(events, deliver)) || (await consume(retries, redeliver))) continue;
        const looks = (await all()).flatMap(({ wait }) => (wait ? [wait.lookAt] : []));
        const times = [...looks, ...[...events, ...retries].map(({ visibleAt }) => visibleAt)];
        if (times.length === 0) return;
        clock.set(Math.max(now(), Math.min(...times)));
        if (looks.some(lookAt => lookAt <= now())) await survives(() => sweep(() => true));
      }
      throw new Error('The simulation does not come to rest.');
    },
  };
};
