import type { DataDirectory } from './directories.ts';
import { startDynamoDb } from './dynamodb/engine.ts';
import type { Faults } from './faults.ts';
import { type Gate, makeGate } from './iam/gate.ts';
import { masterKey } from './kms/master-key.ts';
import { type KeyService, startKms } from './kms/server.ts';
import type { ServiceStandIn } from './loopback-server.ts';
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

/** Starts all of them, in memory or over kept data. */
export const startServices = async (
  data: DataDirectory | undefined,
  { onPublish, onRefusal }: ServiceListeners,
  faults: Faults,
): Promise<Services> => {
  const gate = makeGate(onRefusal);
  const [dynamoDb, sqs, kms] = await Promise.all([
    startDynamoDb(gate, data?.tables, faults),
    startSqs({ gate, faults, onPublish, ...(data ? { directory: data.queues } : {}) }),
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
};
