import { PublishCommand, type PublishCommandInput } from '@aws-sdk/client-sns';
import { ServiceError } from './service-error.ts';

/** What was published, and when. */
interface Published {
  readonly at: number;
  readonly topicArn: string;
  readonly message: Omit<PublishCommandInput, 'TopicArn'>;
}

/** Makes SNS: it keeps what is published. */
export function makeTopics(now: () => number) {
  const published: Published[] = [];
  return { published, execute };

  /** Executes a command of the SDK. @throws {ServiceError} as SNS refuses it. */
  function execute(command: unknown): object {
    if (!(command instanceof PublishCommand)) throw new TypeError('This virtual SNS does not know that command.');
    const { TopicArn, ...message } = command.input;
    if (!TopicArn || !message.Message)
      throw new ServiceError('InvalidParameterException', 'There is no topic, or nothing to say.');
    published.push({ at: now(), topicArn: TopicArn, message });
    return { MessageId: String(published.length) };
  }
}
