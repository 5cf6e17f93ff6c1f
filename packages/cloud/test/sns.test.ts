import { PublishCommand } from '@aws-sdk/client-sns';
import { expect, it } from 'vitest';
import { makeTopics } from '../src/sns.ts';

it('keeps what is published, and refuses what is empty', () => {
  const topics = makeTopics(() => 5);
  topics.execute(new PublishCommand({ TopicArn: 'arn', Message: 'hello', Subject: 's' }));
  expect(topics.published).toEqual([{ at: 5, topicArn: 'arn', message: { Message: 'hello', Subject: 's' } }]);
  expect(() => topics.execute(new PublishCommand({ TopicArn: 'arn', Message: '' }))).toThrow('nothing to say');
});
