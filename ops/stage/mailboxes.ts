import type { Connect } from './ops-runtime.ts';

/**
 * Reads the e-mail addresses that are subscribed to a topic, and whether each address is confirmed. Skips deleted
 * subscriptions, which SNS lists as `Deleted` for up to three days.
 */
export async function listEmailSubscriptions(connect: Connect, topicArn: string) {
  const { paginateListSubscriptionsByTopic, SNSClient } = await import('@aws-sdk/client-sns');
  const pages = paginateListSubscriptionsByTopic({ client: connect(SNSClient) }, { TopicArn: topicArn });
  const states = new Map<string, 'confirmed' | 'not confirmed'>();
  for await (const { Subscriptions = [] } of pages) {
    for (const { Protocol, Endpoint = '', SubscriptionArn = '' } of Subscriptions) {
      if (Protocol !== 'email' || SubscriptionArn === 'Deleted') continue;
      states.set(Endpoint, SubscriptionArn.startsWith('arn:') ? 'confirmed' : 'not confirmed');
    }
  }
  return states;
}
