import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { physicalName, queueArn, region } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { type Faults, noFaults } from '../faults.ts';
import { snsAccess, sqsAccess } from '../iam/access-requests.ts';
import type { Gate } from '../iam/gate.ts';
import { portFault, type ServiceStandIn } from '../loopback-server.ts';
import { makeFair } from './fair-order.ts';
import { countTruly, makeQueueEngine, queueUrl } from './fauxqs.ts';
import { refuseWhatAwsRefuses } from './limits.ts';
import { keepGroups } from './message-groups.ts';

/** A queue of the template. */
export interface Queue {
  readonly name: string;
  /** As SetQueueAttributes takes them: all strings. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The SQS engine, which also stands in for SNS. */
export interface QueueService extends ServiceStandIn {
  urlOf(name: string): string;
  /** Creates a queue, or gives the kept one the attributes that the template has now. */
  ensureQueue(queue: Queue): void;
  ensureTopic(name: string): void;
}

/** Where the engine keeps its state, and who hears of notifications. */
export interface QueueServiceOptions {
  readonly gate: Gate;
  readonly directory?: string;
  readonly faults?: Faults;
  /** @default 0 - any free one */
  readonly port?: number;
  /** Whether quiet groups go first, as on AWS; otherwise messages are handed out as they came. @default true */
  readonly isFair?: boolean;
  /** Told of each notification; not of its content. */
  readonly onPublish: (topic: string, subject: string) => void;
}

/** Reads a queue of the template. @throws {LocalFault} */
export function queueOf(resource: LiveResource): Queue {
  const { QueueName: name, ...attributes } = readProperties(queueSchema, resource);
  const strings = Object.entries(attributes).map(([key, value]) => [
    key,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return {
    name: name ?? physicalName(resource.stack, resource.logicalId, 80),
    attributes: Object.fromEntries(strings),
  };
}

/** Reads the name of a topic of the template. @throws {LocalFault} */
export function topicOf(resource: LiveResource): string {
  return readProperties(topicSchema, resource).TopicName ?? physicalName(resource.stack, resource.logicalId, 256);
}

/** Starts the engine on 127.0.0.1. @throws {LocalFault} when the port cannot be had */
export async function startSqs({
  directory,
  gate,
  faults = noFaults,
  port: wantedPort = 0,
  isFair = true,
  onPublish,
}: QueueServiceOptions): Promise<QueueService> {
  const { app, queues, topics, keepIn } = await makeQueueEngine(region);
  app.addHook('preHandler', async (request, reply) => {
    const target = String(request.headers['x-amz-target'] ?? '');
    const body = (request.body ?? {}) as Record<string, unknown>;
    const access = () => (target === '' ? snsAccess(body) : sqsAccess(target, body));
    const message = gate.refusal(request.headers, access);
    if (message === undefined) return;
    const error = { __type: 'com.amazonaws.sqs#AccessDeniedException', message };
    return reply.status(403).header('content-type', 'application/x-amz-json-1.0').send(error);
  });
  refuseWhatAwsRefuses(app);
  const keepGroup = keepGroups(app);
  app.addHook('preHandler', async (request, reply) => {
    const isSend = /^AmazonSQS\.SendMessage/.test(String(request.headers['x-amz-target']));
    if (!isSend || !faults.strikesRequest('refusedSends', request.headers)) return;
    const error = { __type: 'com.amazonaws.sqs#RequestThrottled', message: 'The request was denied: throttling.' };
    return reply.status(400).header('content-type', 'application/x-amz-json-1.0').send(error);
  });
  app.addHook('preHandler', async (request, reply) => {
    const { success, data } = publication.safeParse(request.body);
    if (!success) return;
    if (faults.strikesRequest('failedNotifications', request.headers))
      return reply.status(500).header('content-type', 'text/xml').send(failedNotification);
    onPublish(data.TopicArn.split(':').at(-1) ?? '', data.Subject);
  });
  await app.listen({ host: '127.0.0.1', port: wantedPort }).catch(error => {
    throw portFault(error, wantedPort);
  });
  const port = (app.server.address() as AddressInfo).port;
  const stopKeeping = directory === undefined ? () => undefined : keepIn(directory, port);

  return {
    endpoint: `http://127.0.0.1:${port}`,
    urlOf: name => queueUrl(port, name),
    ensureQueue: ({ name, attributes }) => {
      const kept = queues.getQueueByName(name);
      if (kept) kept.setAttributes(attributes);
      const queue = kept ?? queues.createQueue(name, queueUrl(port, name), queueArn(name), attributes);
      countTruly(queue);
      keepGroup(queue);
      if (isFair) makeFair(queue, Date.now);
    },
    ensureTopic: name => void topics.createTopic(name, undefined, undefined, region),
    stop: async () => {
      await app.close();
      stopKeeping();
    },
  };
}

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const queueSchema = z.object({
  QueueName: z.string().optional(),
  DelaySeconds: scalar.optional(),
  MaximumMessageSize: scalar.optional(),
  MessageRetentionPeriod: scalar.optional(),
  ReceiveMessageWaitTimeSeconds: scalar.optional(),
  VisibilityTimeout: scalar.optional(),
  FifoQueue: scalar.optional(),
  ContentBasedDeduplication: scalar.optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() }).optional(),
});

const topicSchema = z.object({ TopicName: z.string().optional() });

const publication = z.object({ Action: z.literal('Publish'), TopicArn: z.string(), Subject: z.string().default('') });

/** What SNS answers when the fault is its own. */
const failedNotification =
  '<ErrorResponse><Error><Type>Receiver</Type><Code>InternalError</Code><Message>See the terminal.</Message></Error></ErrorResponse>';
