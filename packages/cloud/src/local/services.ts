import type { QueueFaults } from '../faults.ts';
import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb.ts';
import type { Interceptor } from './emulator.ts';
import { masterKey, startKms } from './kms.ts';
import { startLogs } from './logs.ts';
import { allOrNone } from './loopback-server.ts';
import { startSns } from './sns.ts';
import { startSqs } from './sqs.ts';

/** The place where services listen whose clients are outside the run. The others take any free port. */
export interface ServicePorts {
  /** @default 0 - any free one */
  readonly sqs?: number;
  /** @default 0 - any free one */
  readonly dynamoDb?: number;
}

export interface ServiceOptions {
  /** The interceptors that see each request before the services do. */
  readonly interceptors: readonly Interceptor[];
  /** @default - none */
  readonly queueFaults?: QueueFaults | undefined;
  /** The place where state is kept. @default - in memory */
  readonly data: DataDirectory | undefined;
  readonly ports: ServicePorts;
  /** Receives each notification (SNS), without its content. */
  readonly onPublish: (topic: string, subject: string) => void;
}

/** Starts the emulators of all services. @throws {StartError} when a port cannot be had */
export async function startServices(options: ServiceOptions) {
  const { interceptors, queueFaults: faults, data, ports, onPublish } = options;
  const kept = data?.readState();
  const [dynamoDb, sqs, sns, kms, logs] = await allOrNone([
    startDynamoDb({ interceptors, port: ports.dynamoDb, kept: kept?.tables }),
    startSqs({ interceptors, faults, port: ports.sqs, kept: kept?.queues }),
    startSns(interceptors, onPublish, (arn, message) => sqs.find(arn).send(message, 'sns')),
    startKms(masterKey(data?.masterKeyFile), interceptors),
    startLogs(interceptors),
  ]);
  return {
    dynamoDb,
    sqs,
    sns,
    kms,
    logs,
    /** The state that `--data` keeps, besides the master key of KMS. */
    state: {
      snapshot: () => ({ tables: dynamoDb.snapshot(), queues: sqs.snapshot() }),
      changes: () => dynamoDb.changes() + sqs.changes(),
    },
    /** The endpoints that functions are given, by the names that the SDK's variables have for them. */
    endpoints: { DYNAMODB: dynamoDb.endpoint, SQS: sqs.endpoint, SNS: sns.endpoint, KMS: kms.endpoint },
    stop: async () => void (await Promise.all([dynamoDb, sqs, sns, kms, logs].map(({ stop }) => stop()))),
  };
}

/** The emulators of AWS services. */
export type Services = Awaited<ReturnType<typeof startServices>>;
