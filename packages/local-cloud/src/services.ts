import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb.ts';
import type { Emulator, Interceptor } from './emulator.ts';
import { type KeyService, startKms } from './kms/service.ts';
import { masterKey } from './kms/wrapping.ts';
import { type LogService, startLogs } from './logs.ts';
import type { RunPorts } from './options.ts';
import { type QueueService, startSqs } from './sqs/engine.ts';

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

/** How the services are started. */
export interface ServiceOptions {
  /** What sees each request before the services do. */
  readonly interceptors: readonly Interceptor[];
  /** Where state is kept. @default - in memory */
  readonly data: DataDirectory | undefined;
  readonly ports: Pick<RunPorts, 'sqs' | 'dynamoDb'>;
  /** Whether queues hand out the messages of quiet groups first. */
  readonly isFair: boolean;
  /** Receives each notification (SNS), without its content. */
  readonly onPublish: (topic: string, subject: string) => void;
}

/** Starts all services. @throws {StartError} when a port cannot be had */
export async function startServices(options: ServiceOptions): Promise<Services> {
  const { interceptors, data, ports, isFair, onPublish } = options;
  const [dynamoDb, sqs, kms, logs] = await allOrNone([
    startDynamoDb({ interceptors, port: ports.dynamoDb, ...(data ? { directory: data.tables } : {}) }),
    startSqs({ interceptors, port: ports.sqs, isFair, onPublish, ...(data ? { directory: data.queues } : {}) }),
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

/** Stops those that have started when one cannot start. */
async function allOrNone<Started extends readonly { stop(): Promise<void> }[]>(
  starting: readonly [...{ [Key in keyof Started]: Promise<Started[Key]> }],
): Promise<Started> {
  const settled = await Promise.allSettled(starting);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') return Promise.all(starting) as Promise<unknown> as Promise<Started>;
  await Promise.all(settled.map(result => (result.status === 'fulfilled' ? result.value.stop() : undefined)));
  throw failed.reason;
}
