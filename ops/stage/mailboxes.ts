import type { Connect } from './ops-runtime.ts';

/**
 * Reads the e-mail addresses that are subscribed to a topic, and whether each address is confirmed. Skips ended
 * subscriptions, which SNS lists as `Deleted` for up to three days.
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
