import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { clientSettings } from '../../platform/client-settings.ts';
import type { PublishedAnnouncement } from './announcements.ts';

/** Makes the publisher to the operators' topic; the message is JSON. */
export function makePublishAnnouncement(topicArn: string) {
  const sns = new SNSClient(clientSettings);
  return async function publishAnnouncement(announcement: PublishedAnnouncement): Promise<void> {
    const Message = JSON.stringify(announcement);
    const Subject = `Emissor: ${announcement.type.replace('.', ' ')}`;
    await sns.send(new PublishCommand({ TopicArn: topicArn, Subject, Message }));
  };
}
