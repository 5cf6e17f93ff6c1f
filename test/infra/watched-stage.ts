import { BatchWriteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import { makeKeyRotation } from '../../lambdas/auth/keys/key-rotation.ts';
import { rotationPolicies } from '../../lambdas/auth/keys/rotation-plan.ts';
import { type Delivery, newDelivery, settled } from '../../lambdas/delivery/delivery.ts';
import { makeIsolation } from '../../lambdas/delivery/isolation/isolation.ts';
import { withSlowDns } from '../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore } from '../../lambdas/delivery/isolation/slowness-store.ts';
import type { Lane } from '../../lambdas/delivery/lane-routing.ts';
import { makeAttemptQueue, makeHasMessages } from '../../lambdas/delivery/queues.ts';
import { makeReplayTask, makeRunReplay, replayPage } from '../../lambdas/delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../../lambdas/delivery/replay/replay-start.ts';
import { makeReplayStore, replaysPrefix } from '../../lambdas/delivery/replay/replay-store.ts';
import { makeReadHistory } from '../../lambdas/delivery/store/delivery-history.ts';
import { itemFromDelivery } from '../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../lambdas/delivery/store/delivery-store.ts';
import { makeFindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import { makeSlowBacklogTask } from '../../lambdas/delivery/sweeper/slow-backlog.ts';
import { makeSweep } from '../../lambdas/delivery/sweeper/sweep.ts';
import { makeDeliveryTelemetry } from '../../lambdas/delivery/telemetry.ts';
import { waitingForSlot } from '../../lambdas/delivery/transitions.ts';
import { makeAttempt } from '../../lambdas/delivery/worker/attempt.ts';
import { makeAttempts } from '../../lambdas/delivery/worker/attempts.ts';
import { makeConsumer } from '../../lambdas/delivery/worker/batch-consumer.ts';
import { makeMessageProcessing } from '../../lambdas/delivery/worker/message-processing.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { GuardedPost, PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { makeHandler } from '../../lambdas/platform/lambda-handler.ts';
import { makeSealing } from '../../lambdas/platform/sealing.ts';
import type { Telemetry } from '../../lambdas/platform/telemetry.ts';
import { slownessId, slownessPrefix } from '../../lambdas/delivery/isolation/slow-since.ts';
import { secretBinding } from '../../lambdas/webhooks/webhook.ts';
import { type Metrics, makeMetrics } from '../support/cloudwatch/metrics.ts';
import { startDatabase } from '../support/database/database.ts';
import { makeFakeKms } from '../support/fake-kms.ts';
import { answer, aWebhook, neverLate } from '../unit/delivery/builders.ts';

/** The faults of a stage, which a test switches on and off. */
interface Faults {
  /** KMS opens no key. */
  kms: boolean;
  /** DynamoDB takes nothing and tells nothing. */
  store: boolean;
  /** The queues whose consumers are switched off. */
  off: readonly string[];
  /** The sweeper is switched off. */
  sweeper: boolean;
  /** Conditional writes of the table `Deliveries` that never hold, by their key and what they set. */
  refused?: (id: string, sets: string) => boolean;
  /** The answer of receivers. */
  receivers: PostOutcome;
}

/** The namespace of the stage whose alarms are tried. */
const namespace = 'Emissor/prod';

/** Begins to collect what functions write, with a clock that a test moves. */
export function collectMetrics(start = Date.UTC(2026, 10, 20, 12)): Metrics {
  const metrics = makeMetrics();
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', namespace);
  const written = vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    metrics.addLine(String(text));
    return true;
  });
  onTestFinished(() => {
    written.mockRestore();
    vi.unstubAllEnvs();
    vi.useRealTimers();
  });
  return metrics;
}

/** Invokes a function as Lambda does. */
export function invoke<Event>(telemetry: Telemetry, run: (event: Event) => Promise<unknown>, event: Event) {
  const context = { getRemainingTimeInMillis: () => 45_000, awsRequestId: 'r', functionVersion: '7' };
  return makeHandler<Event, unknown>(telemetry, run)(event, context as never);
}

/**
 * The delivery functions over a real store, each invocation in a process of its own as on a quiet stage, with queues whose messages
 * come back when they were not processed.
 */
export async function startDelivery() {
  const { dynamo: real, stop } = await startDatabase('Deliveries', 'Webhooks', 'Keyring');
  onTestFinished(stop);
  const faults: Faults = { kms: false, store: false, off: [], sweeper: false, receivers: answer(200) };
  const now = () => Date.now();
  const kms = makeFakeKms();
  const dynamo: Dynamo = async command => {
    if (faults.store) throw Object.assign(new Error('…'), { name: 'ThrottlingException' });
    const { Key, ExpressionAttributeNames } = command instanceof UpdateCommand ? command.input : {};
    if (ExpressionAttributeNames && faults.refused?.(String(Key?.id), Object.values(ExpressionAttributeNames).join()))
      throw Object.assign(new Error('…'), { name: 'ConditionalCheckFailedException' });
    return real(command);
  };
  const queues = new Map<string, Message[]>([['events', []], ['retries', []], ['slow', []]]); // biome-ignore format: a table
  const sqs = makeQueues(queues);
  const newSealing = () => makeSealing(makeKeyring({ dynamo, kms: kms.client, table: 'Keyring', now }));
  await makeKeys(real, kms.client);
  await register(
    real,
    await newSealing().seal('whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0', secretBinding('conta-1', 'demanda.criada')),
  );
  let sweepAt = now();
  const stored = { dynamo: real, table: 'Deliveries', now, historyDays: 30 };
  const slownessStore = makeSlownessStore({ ...stored, rate: 20 });
  return {
    faults,
    publish,
    runUntil,
    slowDown,
    fillBacklog,
    fillFailed,
    beginReplay,
    slowness: () => slownessStore.read(slownessId(owner)),
  };

  function publish(): void {
    put(
      queues,
      'events',
      JSON.stringify({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 1, id: randomId(16) }),
    );
  }

  /** Has the receiver found slow, and all slots of the next 90 s taken. */
  async function slowDown(): Promise<void> {
    const slowness = await slownessStore.change(owner, known => withSlowDns(known, now()));
    await slownessStore.reserveUntil(slowness, { ...slowness, nextSlotAt: now() + 90_000 });
  }

  /** Puts so many deliveries into the table that wait for a slot since now. */
  async function fillBacklog(count: number): Promise<void> {
    await slownessStore.beginWaiting(await slownessStore.change(owner, known => known));
    await fill(count, delivery => waitingForSlot(delivery, now()));
  }

  /** Puts so many deliveries into the table that have failed. */
  async function fillFailed(count: number): Promise<void> {
    await fill(count, delivery => settled(delivery, 'failed', now() - 1));
  }

  async function fill(count: number, become: (delivery: Delivery) => Delivery): Promise<void> {
    const items = Array.from({ length: count }, () => {
      const createdAt = now() - 1;
      const origin = { ...owner, id: `evt_${randomId(27)}`, webhookId: 'webhook-1', body: '{}', createdAt };
      return itemFromDelivery(become(newDelivery(origin)), 30);
    });
    for (let first = 0; first < count; first += 25)
      await real(
        new BatchWriteCommand({
          RequestItems: { Deliveries: items.slice(first, first + 25).map(Item => ({ PutRequest: { Item } })) },
        }),
      );
  }

  /** Begins a replay of what has failed so far, and leaves it to the sweeper. */
  async function beginReplay(): Promise<void> {
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const start = makeStartReplay({
      replays: makeReplayStore(stored),
      run: async () => {},
      makeId: randomId,
      now,
      log,
    });
    await start(aWebhook(), { from: 0, to: now(), wanted: 'failed' });
  }

  /** Moves the clock to a moment, and lets come what is due until then. */
  async function runUntil(moment: number): Promise<void> {
    for (let steps = 0; steps < 10_000; steps++) {
      const [next] = [...queues]
        .filter(([name]) => !faults.off.includes(name))
        .flatMap(([name, messages]) => messages.map(message => ({ name, message })))
        .toSorted((one, other) => one.message.visibleAt - other.message.visibleAt);
      const at = Math.max(now(), Math.min(next?.message.visibleAt ?? sweepAt, sweepAt));
      if (at > moment) return void vi.setSystemTime(moment);
      vi.setSystemTime(at);
      if (next && next.message.visibleAt <= at) await consume(next.name, next.message);
      else {
        sweepAt += 60_000;
        if (!faults.sweeper) await sweep();
      }
    }
    throw new Error('There is no end to what is due.');
  }

  async function consume(queue: string, message: Message): Promise<void> {
    message.receives += 1;
    message.visibleAt = now() + 270_000;
    const attributes = { SentTimestamp: String(message.sentAt), ApproximateReceiveCount: String(message.receives) };
    const { messageId, body } = message;
    const record = {
      messageId,
      receiptHandle: messageId,
      body,
      attributes,
      messageAttributes: {},
    } as unknown as SQSRecord;
    const lane = lanes[queue] as Lane;
    const telemetry = makeDeliveryTelemetry(`deliver-${lane}`, 'delivery');
    const consumer = consumerOf(lane, queue, telemetry);
    const result = await invoke(telemetry, event => consumer(event, { getRemainingTimeInMillis: () => 45_000 }), {
      Records: [record],
    });
    const { batchItemFailures } = result as Awaited<ReturnType<typeof consumer>>;
    if (batchItemFailures.length === 0)
      queues.set(
        queue,
        (queues.get(queue) ?? []).filter(other => other !== message),
      );
  }

  function consumerOf(lane: Lane, queueUrl: string, telemetry: ReturnType<typeof makeDeliveryTelemetry>) {
    kms.fail('DecryptCommand', faults.kms ? 'AccessDeniedException' : undefined);
    const shared = { ...telemetry, dynamo, sqs, queueUrl, lane, attemptTimeoutMs: 15_000, now, random: () => 0.5 };
    const store = makeDeliveryStore({ dynamo, table: 'Deliveries', now, historyDays: 30 });
    const [retry, slow] = ['retries', 'slow'].map(url => makeAttemptQueue({ sqs, queueUrl: url, now })) as [
      AttemptQueue,
      AttemptQueue,
    ];
    const isolation = makeIsolation({ ...shared, table: 'Deliveries', store, slowQueue: slow, slowRate: 20 });
    const ownHosts: string[] = [];
    const attempts = makeAttempts({
      ...shared,
      kms: kms.client,
      keyringTable: 'Keyring',
      isolation,
      hasMessages: makeHasMessages(shared),
      giveUp: 'waiting',
      ownHosts,
      serviceVersion: '0',
    });
    const post: GuardedPost = async () => faults.receivers;
    const attempt = makeAttempt({
      ...shared,
      post,
      sealing: newSealing(),
      eventLoopLag: neverLate,
      connectTimeoutMs: 700,
      serviceVersion: '0',
    });
    const processing = makeMessageProcessing({
      ...shared,
      tables: { deliveries: 'Deliveries', webhooks: 'Webhooks' },
      store,
      queues: { retry, slow },
      deadLetterQueueUrl: 'dead-letters',
      refusedEventsTopicArn: 'arn:aws:sns:sa-east-1:111122223333:refused',
      isolation,
      attempts: { ...attempts, attempt },
      schedule: [5_000, 300_000, 1_800_000],
      demandsUrl: 'https://demandas.example.com',
    });
    return makeConsumer({ ...shared, ...processing, maxInFlight: 10, pause: () => new Promise(() => {}) });
  }

  async function sweep(): Promise<void> {
    const telemetry = makeDeliveryTelemetry('sweep');
    const [retry, slow] = ['retries', 'slow'].map(url => makeAttemptQueue({ sqs, queueUrl: url, now })) as [
      AttemptQueue,
      AttemptQueue,
    ];
    const store = makeDeliveryStore({ dynamo, table: 'Deliveries', now, historyDays: 30 });
    const queues = { retry, slow };
    const shared = { ...telemetry, store, queues, retryQueue: retry, now };
    const replays = makeReplayStore({ dynamo, table: 'Deliveries', now, historyDays: 30 });
    const readHistory = makeReadHistory({ dynamo, table: 'Deliveries', store });
    const findWebhook = makeFindWebhook(dynamo, 'Webhooks');
    const runReplay = makeRunReplay({ ...shared, replays, readHistory, findWebhook, page: replayPage });
    const slownessStore = makeSlownessStore({ dynamo, table: 'Deliveries', now, rate: 20 });
    const run = makeSweep({
      ...shared,
      tasks: {
        [slownessPrefix]: makeSlowBacklogTask({ ...shared, slownessStore, findWebhook, slowRate: 20 }),
        [replaysPrefix]: makeReplayTask({ replays, run: runReplay, now }),
      },
    });
    await invoke(telemetry, () => run(() => true), undefined).catch(() => undefined);
  }
}

type AttemptQueue = ReturnType<typeof makeAttemptQueue>;

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
}

const lanes: Readonly<Record<string, Lane>> = { events: 'first', retries: 'retry', slow: 'slow' };

function put(queues: Map<string, Message[]>, name: string, body: string, delaySeconds = 0): void {
  const sentAt = Date.now();
  queues
    .get(name)
    ?.push({ messageId: randomId(16), body, sentAt, visibleAt: sentAt + delaySeconds * 1_000, receives: 0 });
}

/** The part of SQS that the functions ask for. */
function makeQueues(queues: Map<string, Message[]>) {
  const send = async ({
    constructor: { name },
    input,
  }: {
    constructor: { name: string };
    input: Record<string, never>;
  }) => {
    const { QueueUrl, MessageBody, DelaySeconds, ReceiptHandle, VisibilityTimeout } = input;
    if (name === 'SendMessageCommand') put(queues, QueueUrl ?? '', MessageBody ?? '', DelaySeconds);
    if (name === 'SendMessageBatchCommand')
      for (const entry of (input.Entries ?? []) as { MessageBody: string; DelaySeconds?: number }[])
        put(queues, QueueUrl ?? '', entry.MessageBody, entry.DelaySeconds);
    if (name === 'ChangeMessageVisibilityCommand')
      for (const message of queues.get(QueueUrl ?? '') ?? [])
        if (message.messageId === ReceiptHandle) message.visibleAt = Date.now() + (VisibilityTimeout ?? 0) * 1_000;
    return {};
  };
  return { send } as never;
}

async function makeKeys(dynamo: Dynamo, kms: ReturnType<typeof makeFakeKms>['client']): Promise<void> {
  const day = 86_400;
  await makeKeyRotation({
    dynamo,
    kms,
    table: 'Keyring',
    keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
    algorithm: 'ES256',
    policies: rotationPolicies({ periodSeconds: 90 * day, accessTokenSeconds: 900, refreshAbsoluteSeconds: 90 * day }),
    now: () => Date.now(),
    makeId: randomId,
  }).rotateKeys();
}

async function register(dynamo: Dynamo, sealed: string): Promise<void> {
  const createdAt = Date.now();
  const { sealedAuthorization: _, ...webhook } = aWebhook({
    secrets: [{ sealed, createdAt }],
    createdAt,
    updatedAt: createdAt,
  });
  await dynamo(new PutCommand({ TableName: 'Webhooks', Item: webhook }));
}
