import { randomBytes } from 'node:crypto';
import type { QueueFaults } from '../faults.ts';
import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb.ts';
import type { Emulator, Interceptor } from './emulator.ts';
import { startKms } from './kms.ts';
import { startLogs } from './logs.ts';
import { startSns } from './sns.ts';
import { startSqs } from './sqs.ts';

/** The ports of the services that have clients outside the run. 0 selects any free port. */
export interface ServicePorts {
  readonly sqs: number;
  readonly dynamoDb: number;
}

interface ServiceOptions {
  /** The interceptors for all requests. */
  readonly interceptors: readonly Interceptor[];
  readonly queueFaults: QueueFaults | undefined;
  /** The directory that stores state. @default - state is in memory only */
  readonly data: DataDirectory | undefined;
  readonly ports: ServicePorts;
  /** Receives the topic and the subject of each SNS notification. */
  readonly onPublish: (topic: string, subject: string) => void;
}

/** Starts the emulators. `onStop` receives the stop function of each one. @throws {StartError} if a port is not available */
export async function startServices(
  { interceptors, queueFaults: faults, data, ports, onPublish }: ServiceOptions,
  onStop: (stop: Emulator['stop']) => void,
) {
  const stored = data?.readState();
  const dynamoDb = await startDynamoDb({ interceptors, port: ports.dynamoDb, stored: stored?.tables });
  onStop(dynamoDb.stop);
  const sqs = await startSqs({ interceptors, faults, port: ports.sqs, stored: stored?.queues });
  onStop(sqs.stop);
  const sns = await startSns(interceptors, onPublish, (arn, message) => sqs.find(arn).send(message, 'sns'));
  onStop(sns.stop);
  const master = stored?.master ?? randomBytes(32);
  const kms = await startKms(master, interceptors);
  onStop(kms.stop);
  const logs = await startLogs(interceptors);
  onStop(logs.stop);
  return {
    ...{ dynamoDb, sqs, kms, logs },
    /** The state that `--data` stores. */
    state: {
      snapshot: () => ({ master, tables: dynamoDb.snapshot(), queues: sqs.snapshot() }),
      changes: () => dynamoDb.changes() + sqs.changes(),
    },
    /** The endpoints, by the service name in the SDK's variables. */
    endpoints: { DYNAMODB: dynamoDb.endpoint, SQS: sqs.endpoint, SNS: sns.endpoint, KMS: kms.endpoint },
  };
}

/** The emulators of AWS services. */
export type Services = Awaited<ReturnType<typeof startServices>>;
