import {
  CreateTopicCommand,
  DeleteTopicCommand,
  PublishCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import type { ClientSettings } from './inventory.ts';

/** An event that a service brought to a queue. */
export interface Brought {
  readonly source: 'SNS topic' | 'EventBridge rule';
  /** True when the service put it into an envelope of its own. */
  readonly isWrapped: boolean;
  /** The publisher's own id of it. */
  readonly id: string;
}

/**
 * Sends events of an account to a queue by the services that can: an SNS topic with raw message delivery and one without, an
 * EventBridge rule that hands on `$.detail` and one that hands on its envelope. The topics are deleted afterwards.
 */
export async function bringEvents(settings: ClientSettings, queueArn: string, account: string): Promise<Brought[]> {
  const event = (id: string) => JSON.stringify({ id_conta: account, event: 'demanda.criada', id_demanda: 1, id });
  const publish = async (id: string, isRaw: boolean): Promise<Brought> => {
    await publishByTopic(settings, id, queueArn, { isRaw, message: event(id), group: account });
    return { source: 'SNS topic', isWrapped: !isRaw, id };
  };
  const put = async (id: string, target: object): Promise<Brought> => {
    await callEvents(settings, 'PutRule', {
      Name: id,
      EventPattern: JSON.stringify({ source: [id] }),
      State: 'ENABLED',
    });
    const always = { Id: 'emissor', Arn: queueArn, SqsParameters: { MessageGroupId: 'demands' } };
    await callEvents(settings, 'PutTargets', { Rule: id, Targets: [{ ...always, ...target }] });
    await callEvents(settings, 'PutEvents', { Entries: [{ Source: id, DetailType: 'demand', Detail: event(id) }] });
    return { source: 'EventBridge rule', isWrapped: !('InputPath' in target), id };
  };
  return [
    await publish('topic-plain', true),
    await publish('topic-wrapped', false),
    await put('rule-plain', { InputPath: '$.detail' }),
    await put('rule-wrapped', {}),
  ];
}

/** Publishes one message by a topic of that name, to which only the queue is subscribed. The topic is then deleted. */
export async function publishByTopic(
  settings: ClientSettings,
  name: string,
  queueArn: string,
  { isRaw, message, group }: { readonly isRaw: boolean; readonly message: string; readonly group: string },
): Promise<void> {
  const topics = new SNSClient(settings);
  const { TopicArn } = await topics.send(new CreateTopicCommand({ Name: name }));
  const Attributes = { RawMessageDelivery: String(isRaw) };
  await topics.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: queueArn, Attributes }));
  await topics.send(new PublishCommand({ TopicArn, Message: message, MessageGroupId: group }));
  await topics.send(new DeleteTopicCommand({ TopicArn }));
}

/** Calls EventBridge, which has no client among this project's packages. */
async function callEvents({ endpoint }: ClientSettings, operation: string, input: object): Promise<void> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': `AWSEvents.${operation}` },
    body: JSON.stringify(input),
  });
  const text = await answer.text();
  if (!answer.ok || /"Failed\w*Count": ?[1-9]/.test(text)) throw new Error(`${operation}: ${answer.status} ${text}`);
}
