import type { Connect } from './ops-runtime.ts';

/**
 * Reads which addresses receive the e-mails of a topic (`confirmed`), and which addresses are not confirmed yet. Skips
 * addresses without a subscription and ended subscriptions, which SNS lists as `Deleted` for up to three days.
 */
export async function listEmailSubscriptions(connect: Connect, topicArn: string) {
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
