import { createHash } from 'node:crypto';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { EventValues } from '../../lambdas/delivery/intake/event-format.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { output, outputs } from './e2e-target.ts';

/**
 * Sends a message to the events queue, as a publisher does; returns the queue's message id.
 *
 * @param sender - who is taken for its sender by a local run.
 */
export async function send(body: string, account: string, sender?: string): Promise<string> {
  const client = sender === undefined ? queues : sqsClientOf(outputs, sender);
  const answer = await client.send(
    new SendMessageCommand({ QueueUrl: output('EventsQueueUrl'), MessageBody: body, MessageGroupId: account }),
  );
  return answer.MessageId ?? '';
}

/** An event as publishers describe it. */
export interface PublishedEvent extends EventValues {
  readonly event: string;
  readonly id?: string;
}

/** Publishes an event of an account; returns the queue's message id. */
export function publish(account: string, event: PublishedEvent): Promise<string> {
  return send(JSON.stringify({ id_conta: account, ...event }), account);
}

/** Returns the id of an event's delivery: the same for every copy of the event. `id` is the publisher's, or else the message's. */
export function deliveryId(account: string, event: string, id: string): string {
  return `evt_${createHash('sha256')
    .update(JSON.stringify([account, event, id]))
    .digest('base64url')
    .slice(0, 27)}`;
}

const queues = sqsClientOf(outputs);
