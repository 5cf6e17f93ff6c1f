import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb/engine.ts';
import type { Faults } from './faults.ts';
import { type Gate, makeGate } from './iam/gate.ts';
import { masterKey } from './kms/master-key.ts';
import { type KeyService, startKms } from './kms/server.ts';
import type { ServiceStandIn } from './loopback-server.ts';
import type { RunPorts } from './ports.ts';
import { type QueueService, startSqs } from './sqs/engine.ts';

/** The stand-ins for AWS services that functions talk to. */
export interface Services {
  readonly dynamoDb: ServiceStandIn;
  readonly sqs: QueueService;
  readonly kms: KeyService;
  /** Enforces the template's policies on all of them. */
  readonly gate: Gate;
  /** By the names that the SDK's variables have for them. */
  readonly endpoints: Readonly<Record<'DYNAMODB' | 'SQS' | 'SNS' | 'KMS', string>>;
  stop(): Promise<void>;
}

/** Who hears of what goes on in the services. */
export interface ServiceListeners {
  /** A notification (SNS), without its content. */
  readonly onPublish: (topic: string, subject: string) => void;
  /** A request that the policies of the template do not allow. */
  readonly onRefusal: (message: string) => void;
}

/** How the services are to be. */
export interface ServiceOptions {
  readonly faults: Faults;
  readonly ports: Pick<RunPorts, 'sqs' | 'dynamoDb'>;
  /** Whether queues hand out what quiet groups have first. */
  readonly isFair: boolean;
}

/** Starts all of them, in memory or over kept data. @throws {LocalFault} when a port cannot be had */
export async function startServices(
  data: DataDirectory | undefined,
  { onPublish, onRefusal }: ServiceListeners,
  { faults, ports, isFair }: ServiceOptions,
): Promise<Services> {
  const gate = makeGate(onRefusal);
  const [dynamoDb, sqs, kms] = await allOrNone([
    startDynamoDb(gate, data?.tables, faults, ports.dynamoDb),
    startSqs({ gate, faults, onPublish, port: ports.sqs, isFair, ...(data ? { directory: data.queues } : {}) }),
    startKms(masterKey(data?.masterKeyFile), gate, faults),
  ]);
  return {
    dynamoDb,
    sqs,
    kms,
    gate,
    endpoints: { DYNAMODB: dynamoDb.endpoint, SQS: sqs.endpoint, SNS: sqs.endpoint, KMS: kms.endpoint },
    stop: async () => void (await Promise.all([dynamoDb.stop(), sqs.stop(), kms.stop()])),
  };
}

/** Lets all of them end that have started, if one cannot. */
async function allOrNone<Started extends readonly { stop(): Promise<void> }[]>(
  starting: readonly [...{ [Key in keyof Started]: Promise<Started[Key]> }],
): Promise<Started> {
  const settled = await Promise.allSettled(starting);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') return Promise.all(starting) as Promise<unknown> as Promise<Started>;
  await Promise.all(settled.map(result => (result.status === 'fulfilled' ? result.value.stop() : undefined)));
  throw failed.reason;
}
