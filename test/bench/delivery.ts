import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { DeliverEnvironment } from '../../lambdas/delivery/environment.ts';
import { slownessId } from '../../lambdas/delivery/slowness-store.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { bundleHandler } from '../../lib/constructs/bundle.ts';
import { writeRuntimeFiles } from '../../local/lambda/runtime-files.ts';
import { type LocalOutputs, startLocalRun } from '../support/local-run.ts';
import { startCallCounter } from './call-counter.ts';
import { makeCaller } from './caller.ts';
import { batchesOf, batchSize, type Consumer, makeConsumer, type Pace } from './consumer.ts';
import { median } from './figures.ts';
import type { ReceiverTold } from './tls-receiver.ts';

/** One kind of receiver: our consumer beside the plain one. */
export interface DeliveryRow {
  /** How long the receiver takes to answer, in milliseconds. */
  readonly answersAfter: number;
  readonly ours: Pace;
  readonly plain: Pace;
  /** Medians of the ratios of neighbouring rounds: they hold when the machine's speed drifts. */
  readonly cpuRatio: number;
  readonly speedRatio: number;
}

/** What a receiver that never answers does to one consumer process. */
export interface HangingFigures {
  /** Until the first batch is over, in milliseconds: all of its attempts have timed out. */
  readonly firstBatchMs: number;
  /** From then until the webhook's events were left to the slow lane, in milliseconds from the batch's beginning. */
  readonly movedAfterMs: number;
  /** Per attempt that times out. */
  readonly cpuMs: number;
  /** Its events after that: none is attempted here. */
  readonly moved: Pace;
}

/** All that is measured of delivery. */
export interface DeliveryFigures {
  readonly rows: readonly DeliveryRow[];
  readonly hanging: HangingFigures;
  /** DynamoDB calls per successful first attempt, by operation. */
  readonly calls: readonly { readonly operation: string; readonly perDelivery: number }[];
}

/** How much is measured, in batches of ten. */
export interface DeliverySize {
  readonly rounds: number;
  /** In a row to our consumer, then to the plain one. */
  readonly batches: number;
  /** Before anything is measured, so that both consumers' code is compiled. */
  readonly warmUp: number;
}

const host = 'bench.example.com';

/** An event for each receiver. */
const receivers: readonly { readonly evento: EventName; readonly answersAfter: number }[] = [
  { evento: 'demanda.criada', answersAfter: 2 },
  { evento: 'demanda.cancelada', answersAfter: 200 },
];
const hangingEvent: EventName = 'demanda.finalizada';

const told = async (child: ChildProcess): Promise<ReceiverTold> => (await once(child, 'message'))[0] as ReceiverTold;

const startReceiver = async () => {
  const child = fork(join(import.meta.dirname, 'tls-receiver.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const listening = await told(child);
  if (!('port' in listening)) throw new Error('The receiver did not say where it listens.');
  return {
    ...listening,
    received: async () => {
      const answer = told(child);
      child.send('how many');
      const said = await answer;
      return 'received' in said ? said.received : Number.NaN;
    },
    stop: () => child.disconnect(),
  };
};

/** What the delivery stack gives the function; its retries go to a queue that nobody consumes. */
const environmentOf = (outputs: LocalOutputs, retryQueueUrl: string) => {
  const { retrySchedule, attemptTimeout, giveUp, slowRate } = stageConfiguration('local');
  const settings: DeliverEnvironment = {
    WEBHOOKS_TABLE: outputs.WebhooksTable,
    DELIVERIES_TABLE: outputs.DeliveriesTable,
    KEYRING_TABLE: outputs.KeyringTable,
    LANE: 'first',
    QUEUE_URL: outputs.EventsQueueUrl,
    RETRY_QUEUE_URL: retryQueueUrl,
    SLOW_QUEUE_URL: retryQueueUrl,
    DEAD_LETTER_QUEUE_URL: outputs.DeadLetterQueueUrl,
    DEMANDS_URL: outputs.DemandsUrl,
    GIVE_UP: giveUp,
    SLOW_RATE: String(slowRate),
    RETRY_SCHEDULE: retrySchedule.join(','),
    ATTEMPT_TIMEOUT_MS: String(attemptTimeout),
    OWN_HOSTS: 'auth.example.com,api.example.com',
    HISTORY_DAYS: '30',
    SERVICE_VERSION: '0.1.0',
  };
  return { POWERTOOLS_LOG_LEVEL: 'INFO', POWERTOOLS_METRICS_NAMESPACE: 'Emissor/bench', ...settings };
};

const compare = async (
  answersAfter: number,
  { ours, plain }: { readonly ours: Consumer; readonly plain: Consumer },
  makeBatch: () => string,
  { rounds, batches, warmUp }: DeliverySize,
): Promise<DeliveryRow> => {
  const measure = async (consumer: Consumer) => {
    await consumer.consume(1, makeBatch); // opens its connections again
    return consumer.consume(batches, makeBatch);
  };
  for (const consumer of [ours, plain]) await consumer.consume(warmUp, makeBatch);
  const measured: { ours: Pace; plain: Pace }[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push({ ours: await measure(ours), plain: await measure(plain) });
  }
  const middle = (value: (round: (typeof measured)[number]) => number) => median(measured.map(value));
  return {
    answersAfter,
    ours: { cpuMs: middle(round => round.ours.cpuMs), perSecond: middle(round => round.ours.perSecond) },
    plain: { cpuMs: middle(round => round.plain.cpuMs), perSecond: middle(round => round.plain.perSecond) },
    cpuRatio: middle(round => round.ours.cpuMs / round.plain.cpuMs),
    speedRatio: middle(round => round.ours.perSecond / round.plain.perSecond),
  };
};

const measureHanging = async (
  consumer: Consumer,
  makeBatch: () => string,
  slowSince: () => Promise<number>,
  batches: number,
): Promise<HangingFigures> => {
  const startedAt = Date.now();
  const { cpuMs } = await consumer.consume(1, makeBatch);
  const firstBatchMs = Date.now() - startedAt;
  return {
    firstBatchMs,
    movedAfterMs: (await slowSince()) - startedAt,
    cpuMs,
    moved: await consumer.consume(batches, makeBatch),
  };
};

/** Clients of a run's engines. */
const clientsOf = ({ Region: region, DynamoDbEndpoint, SqsEndpoint }: LocalOutputs) => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return {
    documents: DynamoDBDocumentClient.from(new DynamoDBClient({ region, endpoint: DynamoDbEndpoint, credentials })),
    sqs: new SQSClient({ region, endpoint: SqsEndpoint, credentials }),
  };
};

/** Measures what a delivery costs one consumer process, and how many it makes in a second. */
export const measureDelivery = async (size: DeliverySize): Promise<DeliveryFigures> => {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  const undo: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
  try {
    const receiver = await startReceiver();
    undo.push(receiver.stop);
    const run = await startLocalRun('--map', `${host}=http://127.0.0.1:9`); // to be registered; nothing goes there
    undo.push(run.stop);
    const { outputs } = run;
    const counter = await startCallCounter(outputs.DynamoDbEndpoint);
    undo.push(counter.stop);
    const { documents, sqs } = clientsOf(outputs);
    undo.push(
      () => documents.destroy(),
      () => sqs.destroy(),
    );

    const caller = makeCaller(outputs);
    const { access_token: token } = await caller.login();
    for (const { evento, answersAfter } of receivers)
      await caller.register(token, evento, `https://${host}/${answersAfter}`);
    await caller.register(token, hangingEvent, `https://${host}/never`);
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'bench-retries' }));

    const files = await writeRuntimeFiles(
      directory,
      { terminatorPort: receiver.port, builtIn: [], mappings: [[host, receiver.port]] },
      receiver.authorityCertificate,
    );
    const endpoints = { DYNAMODB: outputs.DynamoDbEndpoint, SQS: outputs.SqsEndpoint, KMS: outputs.KmsEndpoint };
    const bundle = (entry: string, name: string): string => {
      mkdirSync(join(directory, name));
      bundleHandler(entry, join(directory, name, 'index.mjs'));
      return join(directory, name);
    };
    const variables = environmentOf(outputs, QueueUrl);
    const begin = (what: string, code: string, DYNAMODB = endpoints.DYNAMODB): Consumer => {
      const consumer = makeConsumer(what, code, variables, { ...files, endpoints: { ...endpoints, DYNAMODB } });
      undo.push(consumer.end);
      return consumer;
    };
    const code = bundle('lambdas/delivery/deliver.handler.ts', 'deliver');
    const ours = begin('deliver', code);
    const plain = begin('plain', bundle('test/bench/plain-deliver.ts', 'plain'));

    const rows: DeliveryRow[] = [];
    for (const { evento, answersAfter } of receivers)
      rows.push(await compare(answersAfter, { ours, plain }, batchesOf(outputs, evento), size));
    const batchesEach = size.warmUp + size.rounds * (size.batches + 1);
    const expected = receivers.length * 2 * batchesEach * batchSize;
    const received = await receiver.received();
    if (received !== expected) throw new Error(`The receiver got ${received} requests, not ${expected}.`);

    const counted = begin('counted', code, counter.endpoint);
    const quick = batchesOf(outputs, receivers[0]?.evento ?? hangingEvent);
    await counted.consume(1, quick); // reads the keyring, once in 30 s
    counter.take();
    await counted.consume(size.batches, quick);
    const calls = [...counter.take()].map(([operation, count]) => ({
      operation,
      perDelivery: count / (size.batches * batchSize),
    }));

    const slowSince = async () => {
      const Key = { id: slownessId({ accountId: outputs.Demo.AccountId, evento: hangingEvent }) };
      return Number(
        (await documents.send(new GetCommand({ TableName: outputs.DeliveriesTable, Key }))).Item?.slowSince,
      );
    };
    const hanging = await measureHanging(ours, batchesOf(outputs, hangingEvent), slowSince, size.batches);
    return { rows, hanging, calls };
  } finally {
    for (const step of undo.toReversed()) await step();
  }
};
