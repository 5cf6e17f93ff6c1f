import type { Connect } from './ops-runtime.ts';

/**
 * Reads which addresses get the mails of a topic (`confirmed`), and which were only asked to confirm. Addresses without a subscription
 * are left out, as is one whose subscription was ended: SNS lists it as `Deleted` for up to three days.
 */
export async function readMailboxes(connect: Connect, topicArn: string) {
  const { paginateListSubscriptionsByTopic, SNSClient } = await import('@aws-sdk/client-sns');
  const pages = paginateListSubscriptionsByTopic({ client: connect(SNSClient) }, { TopicArn: topicArn });
  const found = new Map<string, 'confirmed' | 'not confirmed'>();
  for await (const { Subscriptions = [] } of pages) {
    for (const { Protocol, Endpoint = '', SubscriptionArn = '' } of Subscriptions) {
      if (Protocol !== 'email' || SubscriptionArn === 'Deleted') continue;
      found.set(Endpoint, SubscriptionArn.startsWith('arn:') ? 'confirmed' : 'not confirmed');
    }
  }
  return found;
}
