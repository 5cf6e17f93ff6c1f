import * as z from 'zod';
import type { EngineQueue, QueueApp } from './fauxqs.ts';

/**
 * As it comes, the engine drops the group of a message on a standard queue, and with it all fairness. The group is noted
 * by the object of the message's attributes, which the engine takes over as it is.
 *
 * @returns what makes a queue of the engine keep groups.
 */
export function keepGroups(app: QueueApp): (queue: EngineQueue) => void {
  const groups = new WeakMap<object, string>();

  const note = (sent: Record<string, unknown>): void => {
    if (typeof sent.MessageGroupId !== 'string') return;
    sent.MessageAttributes ??= {};
    groups.set(sent.MessageAttributes as object, sent.MessageGroupId);
  };

  app.addHook('preHandler', async request => {
    const isSend = String(request.headers['x-amz-target']).startsWith('AmazonSQS.SendMessage');
    if (!isSend || !sendSchema.safeParse(request.body).success) return;
    const body = request.body as Record<string, unknown> & { readonly Entries?: Record<string, unknown>[] };
    for (const sent of [body, ...(body.Entries ?? [])]) note(sent);
  });

  return queue => {
    const { enqueue } = queue;
    queue.enqueue = message => {
      const group = groups.get(message.messageAttributes);
      enqueue.call(queue, group === undefined ? message : Object.assign(message, { messageGroupId: group }));
    };
  };
}

const entry = z.looseObject({ MessageGroupId: z.string().optional(), MessageAttributes: z.looseObject({}).optional() });

const sendSchema = entry.extend({ Entries: z.array(entry).optional() });
