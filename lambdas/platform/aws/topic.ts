import type { PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import { clientSettings } from './client-settings.ts';

/** Publishes a message to a topic. Throws if SNS rejects it. */
export type Publish = (topicArn: string, message: Omit<PublishCommandInput, 'TopicArn'>) => Promise<void>;

/** Creates a publisher to SNS topics. It loads the SNS client only for the first message, because most processes never send one. */
export function makePublish(): Publish {
  let sns: SNSClient | undefined;
  return async function publish(topicArn, message) {
    const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns');
    sns ??= new SNSClient(clientSettings('sns'));
    await sns.send(new PublishCommand({ TopicArn: topicArn, ...message }));
  };
}
