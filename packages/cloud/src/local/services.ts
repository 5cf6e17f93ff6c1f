import { randomBytes } from 'node:crypto';
import type { QueueFaults } from '../faults.ts';
import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb.ts';
import type { Emulator, Interceptor } from './emulator.ts';
import { startKms } from './kms.ts';
import { startLogs } from './logs.ts';
import { startSns } from './sns.ts';
import { startSqs } from './sqs.ts';

/** The ports of services with clients outside the run; 0 is any free one. Other services use any free port. */
export interface ServicePorts {
  readonly sqs: number;
  readonly dynamoDb: number;
}

interface ServiceOptions {
  /** The interceptors that see each request before the services do. */
  readonly interceptors: readonly Interceptor[];
  readonly queueFaults: QueueFaults | undefined;
  /** The storage of state. @default - in memory */
  readonly data: DataDirectory | undefined;
  readonly ports: ServicePorts;
  /** Receives each notification (SNS), without its content. */
  readonly onPublish: (topic: string, subject: string) => void;
}

/** Starts the emulators of all services. `onStop` receives a function that stops each. @throws {StartError} if a port is not available */
export async function startServices(
  { interceptors, queueFaults: faults, data, ports, onPublish }: ServiceOptions,
  onStop: (stop: Emulator['stop']) => void,
) {
  const kept = data?.readState();
  const dynamoDb = await startDynamoDb({ interceptors, port: ports.dynamoDb, kept: kept?.tables });
  onStop(dynamoDb.stop);
  const sqs = await startSqs({ interceptors, faults, port: ports.sqs, kept: kept?.queues });
  onStop(sqs.stop);
  const sns = await startSns(interceptors, onPublish, (arn, message) => sqs.find(arn).send(message, 'sns'));
  onStop(sns.stop);
  const master = kept?.master ?? randomBytes(32);
  const kms = await startKms(master, interceptors);
  onStop(kms.stop);
  const logs = await startLogs(interceptors);
  onStop(logs.stop);
  return {
    ...{ dynamoDb, sqs, kms, logs },
    /** The part that `--data` stores. */
    state: {
      snapshot: () => ({ master, tables: dynamoDb.snapshot(), queues: sqs.snapshot() }),
      changes: () => dynamoDb.changes() + sqs.changes(),
    },
    /** The endpoints, by the service's part of the SDK's variables. */
    endpoints: { DYNAMODB: dynamoDb.endpoint, SQS: sqs.endpoint, SNS: sns.endpoint, KMS: kms.endpoint },
  };
}

/** The emulators of AWS services. */
export type Services = Awaited<ReturnType<typeof startServices>>;
