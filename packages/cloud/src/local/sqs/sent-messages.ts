import * as z from 'zod';
import { callerOf } from '../emulator.ts';
import type { EngineQueue, QueueApp, QueueEngine } from './fauxqs.ts';

/**
 * Keeps of sent messages what the engine drops: the group of one on a standard queue, and who sent it. Receivers are told of both, as
 * by SQS: `SenderId` is the access key id that signed the sending. The engine names the account for all of them. It still does for
 * what came from a topic, and for messages that were kept from an earlier run.
 *
 * @returns what makes a queue of the engine keep groups
 */
export function keepSentMessages(app: QueueApp, queues: QueueEngine['queues']): (queue: EngineQueue) => void {
  /** By the object of a message's attributes, which the engine keeps as it is. */
  const senders = new WeakMap<object, string>();
  const groups = new WeakMap<object, string>();

  app.addHook('preHandler', async ({ headers, body }) => {
    const isSend = String(headers['x-amz-target']).startsWith('AmazonSQS.SendMessage');
    if (!isSend || !sendSchema.safeParse(body).success) return;
    const own = body as Sent & { readonly Entries?: Sent[] };
    for (const sent of own.Entries ?? [own]) {
      sent.MessageAttributes ??= {};
      senders.set(sent.MessageAttributes, callerOf(headers.authorization));
      if (sent.MessageGroupId !== undefined) groups.set(sent.MessageAttributes, sent.MessageGroupId);
    }
  });

  app.addHook('preSerialization', async ({ headers, body }, _reply, payload: unknown) => {
    if (headers['x-amz-target'] !== 'AmazonSQS.ReceiveMessage') return payload;
    const { success, data } = receivedSchema.safeParse(payload);
    const queue = queues.getQueue(String(Object(body).QueueUrl));
    if (!success || !queue) return payload;
    for (const { ReceiptHandle, Attributes } of data.Messages ?? []) {
      const message = queue.inflightMessages.get(ReceiptHandle)?.message;
      const sender = message && senders.get(message.messageAttributes);
      if (sender && Attributes?.SenderId !== undefined) Attributes.SenderId = sender;
    }
    return data;
  });

  return function keepGroupsOf(queue) {
    const { enqueue } = queue;
    queue.enqueue = message => {
      const group = groups.get(message.messageAttributes);
      enqueue.call(queue, group === undefined ? message : Object.assign(message, { messageGroupId: group }));
    };
  };
}

const entry = z.looseObject({ MessageGroupId: z.string().optional(), MessageAttributes: z.looseObject({}).optional() });

const sendSchema = entry.extend({ Entries: z.array(entry).optional() });

type Sent = { readonly MessageGroupId?: string; MessageAttributes?: object };

const receivedSchema = z.looseObject({
  Messages: z
    .array(z.looseObject({ ReceiptHandle: z.string(), Attributes: z.record(z.string(), z.string()).optional() }))
    .optional(),
});
