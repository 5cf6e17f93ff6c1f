import { describe, expect, it } from 'vitest';
import { makeFair } from '../../../src/local/sqs/fair-queues.ts';
import { makeQueueEngine } from '../../../src/local/sqs/fauxqs.ts';

const start = async () => {
  let moment = 0;
  const { queues } = await makeQueueEngine('us-east-1');
  const queue = queues.createQueue('q', 'http://127.0.0.1/0/q', 'arn:aws:sqs:us-east-1:000000000000:q', {
    VisibilityTimeout: '300',
  });
  makeFair(queue, () => moment);
  const send = (group: string, count: number) => {
    for (let index = 0; index < count; index++) {
      queue.enqueue({
        messageId: `${group}${index}`,
        body: group,
        md5OfBody: '',
        messageAttributes: {},
        md5OfMessageAttributes: '',
        messageGroupId: group,
        sentTimestamp: 0,
        approximateReceiveCount: 0,
      });
    }
  };
  const receive = (count = 10) => queue.dequeue(count);
  return {
    send,
    receive,
    groups: (count?: number) => receive(count).map(({ Body }) => Body),
    remove: (handle: string) => queue.deleteMessage(handle),
    pass: (milliseconds: number) => {
      moment += milliseconds;
    },
  };
};

describe('a fair queue', () => {
  it('hands messages out in their order while nobody is noisy', async () => {
    const { send, groups } = await start();
    send('a', 2);
    send('b', 1);
    send('a', 1);
    expect(groups()).toEqual(['a', 'a', 'b', 'a']);
  });

  it('prefers the others to a group with 30 messages and more than a tenth of those in flight', async () => {
    const { send, receive, groups } = await start();
    send('loud', 40);
    for (let batch = 0; batch < 3; batch++) receive();
    send('quiet', 2);
    expect(groups(3)).toEqual(['quiet', 'quiet', 'loud']);
  });

  it('prefers the others to a group that took more than a tenth of the recent processing time', async () => {
    const { send, receive, remove, groups, pass } = await start();
    send('slow', 1);
    const [slow] = receive();
    pass(15_000);
    remove(slow?.ReceiptHandle ?? '');
    send('slow', 2);
    send('quick', 1);
    expect(groups()).toEqual(['quick', 'slow', 'slow']);
  });

  it('forgets messages after a minute', async () => {
    const { send, receive, remove, groups, pass } = await start();
    send('slow', 1);
    const [slow] = receive();
    pass(15_000);
    remove(slow?.ReceiptHandle ?? '');
    pass(60_000);
    send('slow', 1);
    send('quick', 1);
    expect(groups()).toEqual(['slow', 'quick']);
  });

  it('prefers, among noisy groups, the one with the least in flight', async () => {
    const { send, receive, groups } = await start();
    send('louder', 40);
    for (let batch = 0; batch < 4; batch++) receive();
    send('loud', 30);
    for (let batch = 0; batch < 3; batch++) receive();
    send('louder', 1);
    send('loud', 1);
    send('quiet', 1);
    expect(groups()).toEqual(['quiet', 'loud', 'louder']);
  });

  it('does not limit a noisy group when no other messages wait', async () => {
    const { send, receive, groups } = await start();
    send('loud', 50);
    for (let batch = 0; batch < 3; batch++) receive();
    expect(groups()).toHaveLength(10);
  });
});
