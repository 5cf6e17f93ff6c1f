import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb.ts';
import type { Emulator, Interceptor } from './emulator.ts';
import { type KeyService, startKms } from './kms/service.ts';
import { masterKey } from './kms/wrapping.ts';
import { type LogService, startLogs } from './logs.ts';
import { allOrNone } from './loopback-server.ts';
import { type QueueService, startSqs } from './sqs/engine.ts';
import type { RecordUsage } from './usage.ts';

/** The emulators of AWS services. */
export interface Services {
  readonly dynamoDb: Emulator;
  readonly sqs: QueueService;
  readonly kms: KeyService;
  readonly logs: LogService;
  /** The endpoints that functions are given, by the names that the SDK's variables have for them. */
  readonly endpoints: Readonly<Record<'DYNAMODB' | 'SQS' | 'SNS' | 'KMS', string>>;
  stop(): Promise<void>;
}

/** The place where services listen whose clients are outside the run. The others take any free port. */
export interface ServicePorts {
  /** @default 0 - any free one */
  readonly sqs?: number;
  /** @default 0 - any free one */
  readonly dynamoDb?: number;
}

/** The options of the services. */
export interface ServiceOptions {
  /** The interceptors that see each request before the services do. */
  readonly interceptors: readonly Interceptor[];
  /** The place where state is kept. @default - in memory */
  readonly data: DataDirectory | undefined;
  readonly ports: ServicePorts;
  /** True when queues hand out the messages of quiet groups first. */
  readonly isFair: boolean;
  /** Receives each notification (SNS), without its content. */
  readonly onPublish: (topic: string, subject: string) => void;
  /** Receives each operation of DynamoDB with its request units. @default - none are counted */
  readonly recordUsage?: RecordUsage | undefined;
}

/** Starts all services. @throws {StartError} when a port cannot be had */
export async function startServices(options: ServiceOptions): Promise<Services> {
  const { interceptors, data, ports, isFair, onPublish, recordUsage } = options;
  const [dynamoDb, sqs, kms, logs] = await allOrNone([
    startDynamoDb({ interceptors, port: ports.dynamoDb, recordUsage, directory: data?.tables }),
    startSqs({ interceptors, port: ports.sqs, isFair, onPublish, directory: data?.queues }),
    startKms(masterKey(data?.masterKeyFile), interceptors),
    startLogs(interceptors),
  ]);
  return {
    dynamoDb,
    sqs,
    kms,
    logs,
    endpoints: { DYNAMODB: dynamoDb.endpoint, SQS: sqs.endpoint, SNS: sqs.endpoint, KMS: kms.endpoint },
    stop: async () => void (await Promise.all([dynamoDb.stop(), sqs.stop(), kms.stop(), logs.stop()])),
  };
}
