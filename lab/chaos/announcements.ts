import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, GetQueueAttributesCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import type { PublishedAnnouncement } from '../../lambdas/delivery/sweeper/announcements.ts';
import type { LocalOutputs } from '../../tools/support/local-run.ts';
import type { PublishedEvent } from './publisher.ts';
import type { Arrival } from './receivers.ts';
import type { StoredState } from './run-state.ts';

/** Subscribes a new queue to a run's operations topic. Returns the queue's URL. */
export async function subscribeToOperations(
  sqs: SQSClient,
  { Region, SqsEndpoint, OperationsTopicArn }: LocalOutputs,
): Promise<string> {
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'chaos-operations' }));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const sns = new SNSClient({ region: Region, endpoint: SqsEndpoint, credentials }); // one engine is both
  const subscription = { TopicArn: OperationsTopicArn, Protocol: 'sqs', Endpoint: Attributes?.QueueArn };
  await sns.send(new SubscribeCommand({ ...subscription, Attributes: { RawMessageDelivery: 'true' } }));
  sns.destroy();
  return QueueUrl;
}

/**
 * Every webhook whose receiver answered that it is gone must be announced as suspended, or wait for its announcement, and no other
 * one. What the receiver answered counts: a process may die between the suspension and the record of the attempt.
 */
export function auditAnnouncements(
  { published, arrivals }: { readonly published: readonly PublishedEvent[]; readonly arrivals: readonly Arrival[] },
  { announcing }: Pick<StoredState, 'announcing'>,
  messages: readonly Message[],
): readonly string[] {
  const announced = messages.map(({ Body = '{}' }) => JSON.parse(Body) as PublishedAnnouncement);
  const nameOf = (account: string, eventName: string) => `${account}#${eventName}`;
  const toldGone = new Set(
    arrivals.filter(({ answered }) => answered() === 410).map(({ headers }) => headers['webhook-id']),
  );
  const gone = new Set(
    published
      .filter(({ deliveryId }) => toldGone.has(deliveryId))
      .map(({ registration: { account, eventName } }) => nameOf(account, eventName)),
  );
  const told = new Set(
    announced.filter(({ reason }) => reason === 'gone').map(({ accountId, event }) => nameOf(accountId, event)),
  );
  return [
    ...[...gone].filter(name => !told.has(name) && !announcing.has(name)).map(name => `LOST suspension of ${name}`),
    ...announced
      .filter(({ accountId, event }) => !gone.has(nameOf(accountId, event)))
      .map(({ type, accountId, event }) => `announced as ${type}: ${nameOf(accountId, event)}, which is healthy`),
  ];
}
