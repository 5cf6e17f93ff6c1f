import { PublishCommand } from '@aws-sdk/client-sns';
import { expect, it } from 'vitest';
import { makeTopics } from '../src/sns.ts';

it('passes on what is published, and refuses what is empty', () => {
  const published: unknown[] = [];
  const topics = makeTopics((...notification) => published.push(notification));
  topics.execute(new PublishCommand({ TopicArn: 'arn', Message: 'hello', Subject: 's' }));
  expect(() => topics.execute(new PublishCommand({ TopicArn: 'arn', Message: '' }))).toThrow('nothing to say');
  expect(published).toEqual([['arn', { Message: 'hello', Subject: 's' }]]);
});
