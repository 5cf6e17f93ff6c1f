import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { clientSettings } from '../platform/client-settings.ts';
import type { SuspensionAnnouncement } from './suspension-notice.ts';

/** Makes the publisher of suspensions to the operations topic; the message is JSON. */
export const makePublishSuspension = (topicArn: string) => {
  const sns = new SNSClient(clientSettings);
  return async (announcement: SuspensionAnnouncement): Promise<void> => {
    const Message = JSON.stringify(announcement);
    await sns.send(new PublishCommand({ TopicArn: topicArn, Subject: 'Emissor: webhook suspended', Message }));
  };
};
