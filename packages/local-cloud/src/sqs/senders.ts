import * as z from 'zod';
import { callerOf } from '../emulator.ts';
import type { QueueApp, QueueEngine } from './fauxqs.ts';

/**
 * Tells receivers who sent a message, as SQS does: `SenderId` is the access key id that signed its sending. The engine names the
 * account for all of them. It still does for what came from a topic, and for messages that were kept from an earlier run.
 */
export function keepSenders(app: QueueApp, queues: QueueEngine['queues']): void {
  /** By the object of a message's attributes, which the engine keeps as it is. */
  const senders = new WeakMap<object, string>();

  app.addHook('preHandler', async ({ headers, body }) => {
    const isSend = String(headers['x-amz-target']).startsWith('AmazonSQS.SendMessage');
    const sender = callerOf(headers.authorization);
    if (!isSend || sender === '' || !sendSchema.safeParse(body).success) return;
    const own = body as Sent & { readonly Entries?: Sent[] };
    for (const sent of own.Entries ?? [own]) {
      sent.MessageAttributes ??= {};
      senders.set(sent.MessageAttributes, sender);
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
      if (sender !== undefined && Attributes?.SenderId !== undefined) Attributes.SenderId = sender;
    }
    return data;
  });
}

const entry = z.looseObject({ MessageAttributes: z.looseObject({}).optional() });

const sendSchema = entry.extend({ Entries: z.array(entry).optional() });

type Sent = { MessageAttributes?: object };

const receivedSchema = z.looseObject({
  Messages: z
    .array(z.looseObject({ ReceiptHandle: z.string(), Attributes: z.record(z.string(), z.string()).optional() }))
    .optional(),
});
