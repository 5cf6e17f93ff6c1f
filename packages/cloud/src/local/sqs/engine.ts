import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { physicalName, queueArn, region } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { callerOf, type Emulator, type Interceptor, intercept, type ServiceError } from '../emulator.ts';
import { portError } from '../errors.ts';
import { makeFair } from './fair-queues.ts';
import { makeQueueEngine, type QueueApp, queueUrl } from './fauxqs.ts';
import { enforceLimits } from './limits.ts';
import { keepSentMessages } from './sent-messages.ts';

export interface Queue {
  readonly name: string;
  /** As SetQueueAttributes takes them: all strings. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Emulates SQS and SNS (fauxqs). */
export interface QueueService extends Emulator {
  urlOf(name: string): string;
  /** Creates a queue, or sets the attributes that the template has now on the kept one. */
  ensureQueue(queue: Queue): void;
  ensureTopic(name: string): void;
}

export interface QueueServiceOptions {
  readonly interceptors?: readonly Interceptor[];
  /** The place where queues and messages are kept. @default - in memory */
  readonly directory?: string | undefined;
  /** @default 0 - any free one */
  readonly port?: number | undefined;
  /** Receives each notification, without its content. @default - nothing is done */
  readonly onPublish?: (topic: string, subject: string) => void;
}

/** Reads a queue of the template. @throws {StartError} */
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

/** Reads the name of a topic of the template. @throws {StartError} */
export function topicOf(resource: LiveResource): string {
  return readProperties(topicSchema, resource).TopicName ?? physicalName(resource.stack, resource.logicalId, 256);
}

/** Refuses a subscription of the template that is no e-mail address: nothing would deliver to it. @throws {StartError} */
export function requireEmail(subscription: LiveResource): void {
  readProperties(subscriptionSchema, subscription);
}

/** Starts the engine on 127.0.0.1. @throws {StartError} when the port cannot be had */
export async function startSqs({
  interceptors = [],
  directory,
  port: wantedPort = 0,
  onPublish = () => undefined,
}: QueueServiceOptions = {}): Promise<QueueService> {
  const { app, queues, topics, keepIn } = await makeQueueEngine(region);
  addInterceptors(app, interceptors);
  enforceLimits(app);
  const keepGroups = keepSentMessages(app, queues);
  app.addHook('preHandler', async request => {
    const { success, data } = publication.safeParse(request.body);
    if (success) onPublish(data.TopicArn.split(':').at(-1) ?? '', data.Subject);
  });
  await app.listen({ host: '127.0.0.1', port: wantedPort }).catch(error => {
    throw portError(error, wantedPort);
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
      keepGroups(queue);
      makeFair(queue, Date.now);
    },
    ensureTopic: name => void topics.createTopic(name, undefined, undefined, region),
    stop: async () => {
      await app.close();
      stopKeeping();
    },
  };
}

/** SQS requests are JSON and name their operation in a header; SNS requests are forms that hold it, and get XML. */
function addInterceptors(app: QueueApp, interceptors: readonly Interceptor[]): void {
  app.addHook('preHandler', async ({ headers, body }, reply) => {
    const [, target] = String(headers['x-amz-target'] ?? '').split('.');
    const input = Object(body) as Record<string, unknown>;
    const caller = callerOf(headers.authorization);
    const error = target
      ? intercept(interceptors, { service: 'sqs', operation: target, input, caller })
      : intercept(interceptors, { service: 'sns', operation: String(input.Action), input, caller });
    if (!error) return;
    const { status, code, message } = error;
    if (!target) return reply.status(status).header('content-type', 'text/xml').send(xmlOf(error));
    const type = 'application/x-amz-json-1.0';
    return reply
      .status(status)
      .header('content-type', type)
      .send({ __type: `com.amazonaws.sqs#${code}`, message });
  });
}

function xmlOf({ status, code, message }: ServiceError): string {
  const type = status < 500 ? 'Sender' : 'Receiver';
  return `<ErrorResponse><Error><Type>${type}</Type><Code>${code}</Code><Message>${message.replaceAll(/[<&]/g, '')}</Message></Error></ErrorResponse>`;
}

const publication = z.object({ Action: z.literal('Publish'), TopicArn: z.string(), Subject: z.string().default('') });

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

const subscriptionSchema = z.object({
  Protocol: z.enum(['email', 'email-json'], 'only e-mail addresses may be subscribed by a template locally'),
});
