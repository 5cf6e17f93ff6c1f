import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { shuffled } from '../../tools/support/random.ts';
import type { Registration } from './registrations.ts';

/** An event as it was published. */
export interface PublishedEvent {
  /** Its delivery's id, by the rule of the interface. */
  readonly deliveryId: string;
  readonly registration: Registration;
  readonly idDemanda: number;
}

/** Publishes events evenly for `length` milliseconds, as many of each registration. @throws when the queue refuses one. */
export async function publishEvenly(
  sqs: SQSClient,
  QueueUrl: string,
  registrations: readonly Registration[],
  count: number,
  length: number,
): Promise<readonly PublishedEvent[]> {
  const rounds = Array.from({ length: Math.ceil(count / registrations.length) }, () =>
    shuffled(registrations, Math.random),
  );
  const events = rounds.flat().slice(0, count).map(eventOf);
  const start = Date.now();
  for (let first = 0; first < count; first += largestBatch) {
    await pause(Math.max(0, start + (length * first) / count - Date.now()));
    const Entries = events.slice(first, first + largestBatch).map(messageOf);
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    if (Failed.length > 0) throw new Error('The events queue refused messages.');
  }
  return events;
}

/** Messages in one call, at most. */
const largestBatch = 10;

function eventOf(registration: Registration, index: number): PublishedEvent {
  const { account, eventName } = registration;
  const idDemanda = index + 1;
  return { deliveryId: deliveryIdOf(account, eventName, ownId(idDemanda)), registration, idDemanda };
}

function messageOf({ registration: { account, eventName }, idDemanda }: PublishedEvent, index: number) {
  const own = { id: ownId(idDemanda), id_conta: account, event: eventName };
  const MessageBody = JSON.stringify({ ...businessEvents.exampleValues, ...own, id_demanda: idDemanda });
  return { Id: String(index), MessageBody, MessageGroupId: account };
}

/** The publisher's own id. */
function ownId(idDemanda: number): string {
  return `chaos-${idDemanda}`;
}
