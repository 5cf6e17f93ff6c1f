import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { LocalOutputs } from '../../tools/support/local-run.ts';
import type { Registration } from './registrations.ts';

/** An event as it was published. */
export interface PublishedEvent {
  /** Its delivery's id, by the rule of the interface. */
  readonly deliveryId: string;
  readonly registration: Registration;
  readonly idDemanda: number;
  /** The message, to be published once more. */
  readonly message: string;
  /** True when the message holds the publisher's own id, so that another one like it is the same event. */
  readonly hasOwnId: boolean;
}

/** Sends up to ten messages. Returns their ids. @throws when the queue does not take all of them. */
export async function sendAll(
  sqs: SQSClient,
  QueueUrl: string,
  messages: readonly Outgoing[],
): Promise<readonly string[]> {
  const Entries = messages.map(({ body, account }, index) => ({
    Id: String(index),
    MessageBody: body,
    MessageGroupId: account,
  }));
  const { Successful = [], Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  if (Failed.length > 0 || Successful.length !== messages.length) throw new Error('The events queue refused messages.');
  return messages.map((_, index) => Successful.find(({ Id }) => Id === String(index))?.MessageId ?? '');
}

/** Publishes one event for each registration of a list of up to ten. Demand ids are counted up from `firstId`. */
export async function publishEvents(
  sqs: SQSClient,
  { EventsQueueUrl }: LocalOutputs,
  registrations: readonly Registration[],
  firstId: number,
  hasOwnId: (index: number) => boolean,
): Promise<readonly PublishedEvent[]> {
  const events = registrations.map((registration, index) => {
    const { account, eventName } = registration;
    const idDemanda = firstId + index;
    const own = hasOwnId(index) ? { id: `chaos-${idDemanda}` } : {};
    const ids = { ...businessEvents.exampleValues, id_demanda: idDemanda };
    return {
      registration,
      idDemanda,
      own,
      message: JSON.stringify({ id_conta: account, event: eventName, ...ids, ...own }),
    };
  });
  const outgoing = events.map(({ message, registration }) => ({ body: message, account: registration.account }));
  const messageIds = await sendAll(sqs, EventsQueueUrl, outgoing);
  return events.map(({ registration, idDemanda, own, message }, index) => ({
    deliveryId: deliveryIdOf(registration.account, registration.eventName, own.id ?? messageIds[index] ?? ''),
    registration,
    idDemanda,
    message,
    hasOwnId: own.id !== undefined,
  }));
}

/** A message to be sent: its body, and its account. */
interface Outgoing {
  readonly body: string;
  readonly account: string;
}
