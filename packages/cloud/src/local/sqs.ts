import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { QueueFaults } from '../faults.ts';
import { realTime } from '../real-time.ts';
import type { QueueDefinition } from '../sqs/queue.ts';
import { makeQueues, type Queues } from '../sqs/queues.ts';
import { account, queueArn } from './assembly/identities.ts';
import { type LiveResource, readProperties } from './assembly/resources.ts';
import { type Emulator, type Interceptor, type Operation, startAwsJsonService } from './emulator.ts';

/** An SQS emulator in real time. */
export interface QueueService extends Emulator, Pick<Queues, 'find' | 'snapshot' | 'changes'> {
  urlOf(name: string): string;
  /** Creates a queue and restores its stored messages. */
  ensureQueue(definition: QueueDefinition): void;
}

/** The messages from an earlier run. */
export type StoredQueues = ReturnType<Queues['snapshot']>;

/** Starts an SQS emulator on 127.0.0.1. @throws {StartError} if the port is not available */
export async function startSqs({
  interceptors = [],
  faults = noFaults,
  port,
  stored = {},
}: {
  readonly interceptors?: readonly Interceptor[];
  /** The faults that affect queues. @default - no faults */
  readonly faults?: QueueFaults | undefined;
  /** The port. @default 0 - any free port */
  readonly port?: number | undefined;
  /** The messages from an earlier run. @default - no messages */
  readonly stored?: StoredQueues | undefined;
} = {}): Promise<QueueService> {
  const queues = makeQueues([], { time: realTime, faults, note: () => {}, nextId: randomUUID, arnOf: queueArn });
  queues.restore(stored);
  const operations: Record<string, Operation> = {
    CreateQueue: input => {
      const { QueueName, Attributes } = createInput.parse(input);
      return { QueueUrl: urlOf(queues.create(definitionOf(QueueName, Attributes)).name) };
    },
    DeleteQueue: input => queues.destroy(urlInput.parse(input).QueueUrl),
    GetQueueUrl: input => ({ QueueUrl: urlOf(queues.find(nameInput.parse(input).QueueName).name) }),
    ReceiveMessage: (input, { signal }) => queues.poll(Object(input), signal),
  };
  for (const name of queues.operationNames) {
    operations[name] ??= (input, { caller }) => queues.perform(name, Object(input), caller);
  }
  const protocol = { port, hint };
  const service = await startAwsJsonService('sqs', operations, interceptors, 'InvalidParameterValue', protocol);
  const { create: ensureQueue, find, snapshot, changes } = queues;
  return { ...service, urlOf, ensureQueue, find, snapshot, changes };

  /** Returns the URL of a queue. The SDK sends requests to the host in this URL, regardless of the client's endpoint. */
  function urlOf(name: string): string {
    return `${service.endpoint}/${account}/${name}`;
  }
}

/** Parses a queue in the template. @throws {StartError} */
export function queueOf(resource: LiveResource): QueueDefinition {
  return definitionOf(resource.name, readProperties(attributesSchema, resource));
}

function definitionOf(name: string, attributes: z.output<typeof attributesSchema> = {}): QueueDefinition {
  const { RedrivePolicy: redrive } = attributes;
  return {
    name,
    visibilityTimeout: attributes.VisibilityTimeout,
    maxMessageSize: attributes.MaximumMessageSize,
    receiveWait: attributes.ReceiveMessageWaitTimeSeconds,
    redrive: redrive && { queue: redrive.deadLetterTargetArn, maxReceiveCount: redrive.maxReceiveCount },
  };
}

const noFaults: QueueFaults = { isRedelivered: () => false, isEntryRejected: () => false };

/** Lists the first version of each AWS SDK that uses JSON. AWS documents 1.28.82 for boto3, but 1.32.6 to 1.34.89 use Query. */
const hint =
  'Use a version of the AWS SDK that uses it for SQS: at least 2.21.19 (or 1.12.585) for Java, 3.447.0 for JavaScript, ' +
  '1.34.90 for Python (boto3), service/sqs 1.28.0 for Go, 3.7.681 for .NET, 3.285.2 for PHP, aws-sdk-sqs 1.67.0 for Ruby.';

const attributesSchema = z.object({
  VisibilityTimeout: z.coerce.number().optional(),
  MaximumMessageSize: z.coerce.number().optional(),
  ReceiveMessageWaitTimeSeconds: z.coerce.number().optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() }).optional(),
  DelaySeconds: z.undefined('delay queues are not supported locally').optional(),
  FifoQueue: z.undefined('FIFO queues are not supported locally').optional(),
});

const nameInput = z.object({ QueueName: z.string() });
const createInput = nameInput.extend({ Attributes: attributesSchema.optional() });
const urlInput = z.object({ QueueUrl: z.string() });
