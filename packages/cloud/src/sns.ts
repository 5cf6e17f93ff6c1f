import type {
  MessageAttributeValue,
  PublishCommandInput,
  SubscribeCommandInput,
  UnsubscribeCommandInput,
} from '@aws-sdk/client-sns';
import { ServiceError } from './service-error.ts';

export type TopicMessage = Omit<PublishCommandInput, 'TopicArn'>;

/** Creates an SNS emulator. A topic exists as soon as its ARN is used. `deliver` sends a message to a subscribed queue. */
export function makeTopics(
  onPublish: (topicArn: string, message: TopicMessage) => void,
  deliver: (queueArn: string, message: TopicMessage) => void = () => {},
) {
  const subscriptions = new Map<string, Subscription>();
  let created = 0;
  const operations: Readonly<Record<string, (input: never) => Readonly<Record<string, string>>>> = {
    Publish: ({ TopicArn: topicArn = '', ...message }: PublishCommandInput) => {
      if (topicArn === '' || !message.Message)
        throw new ServiceError('InvalidParameterException', 'The request must contain a topic and a message.');
      onPublish(topicArn, message);
      for (const subscription of subscriptions.values()) {
        if (subscription.topicArn !== topicArn || !passes(subscription.filter, message)) continue;
        deliver(subscription.queueArn, message);
      }
      created += 1;
      return { MessageId: String(created) };
    },
    Subscribe: ({ TopicArn: topicArn = '', Protocol, Endpoint: queueArn = '', Attributes }: SubscribeCommandInput) => {
      const { RawMessageDelivery, FilterPolicy = '{}' } = Attributes ?? {};
      if (Protocol !== 'sqs' || RawMessageDelivery !== 'true')
        throw new ServiceError('InvalidParameter', 'Only queues can subscribe locally, with raw message delivery.');
      created += 1;
      subscriptions.set(`${topicArn}:${created}`, { topicArn, queueArn, filter: JSON.parse(FilterPolicy) });
      return { SubscriptionArn: `${topicArn}:${created}` };
    },
    Unsubscribe: ({ SubscriptionArn = '' }: UnsubscribeCommandInput) => {
      subscriptions.delete(SubscriptionArn);
      return {};
    },
  };
  return { perform, execute };

  /** Executes an SDK command. @throws {ServiceError} if SNS rejects it */
  function execute(command: { readonly input: object }): object {
    return perform(command.constructor.name.replace(/Command$/, ''), command.input);
  }

  /** Performs an operation. @throws {ServiceError} if SNS rejects it */
  function perform(operation: string, input: object): Readonly<Record<string, string>> {
    const act = operations[operation];
    if (!act) throw new TypeError(`This SNS does not support ${operation}.`);
    return act(input as never);
  }
}

interface Subscription {
  readonly topicArn: string;
  readonly queueArn: string;
  readonly filter: FilterPolicy;
}

/** The accepted values and prefixes of each message attribute. */
type FilterPolicy = Readonly<Record<string, readonly (string | { readonly prefix: string })[]>>;

function passes(filter: FilterPolicy, { MessageAttributes = {} }: TopicMessage): boolean {
  return Object.entries(filter).every(([name, accepted]) => {
    const { StringValue: value }: Partial<MessageAttributeValue> = MessageAttributes[name] ?? {};
    return accepted.some(one => (typeof one === 'string' ? value === one : value?.startsWith(one.prefix)));
  });
}
