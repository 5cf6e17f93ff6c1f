import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { openQueues } from '../../../../ops/stage/queues.ts';
import { localTarget } from '../../../../ops/stage/target.ts';

/** Creates a dead-letter queue with slow calls. It always returns messages in the same order. */
function queueOf(count: number, callSeconds: number, { hidesLonger = true, failsAt = 0 } = {}) {
  const hiddenUntil = new Map(Array.from({ length: count }, (_, id) => [`${id}`, 0]));
  let [now, maxHidden, receives] = [0, 0, 0];
  const visible = () => [...hiddenUntil.keys()].filter(id => (hiddenUntil.get(id) ?? 0) <= now);
  const send = async (command: object) => {
    now += callSeconds;
    if (command instanceof GetQueueAttributesCommand) {
      return { Attributes: { ApproximateNumberOfMessages: `${visible().length}` } };
    }
    if (command instanceof ChangeMessageVisibilityBatchCommand) {
      for (const { ReceiptHandle = '', VisibilityTimeout = 0 } of command.input.Entries ?? [])
        if (hidesLonger || VisibilityTimeout === 0) hiddenUntil.set(ReceiptHandle, now + VisibilityTimeout);
      return {};
    }
    if (!(command instanceof ReceiveMessageCommand)) throw new Error('The queue does not support this call.');
    receives += 1;
    if (receives === failsAt) throw new Error('receive failed');
    const { MaxNumberOfMessages, VisibilityTimeout = 0 } = command.input;
    const received = visible().slice(0, MaxNumberOfMessages);
    for (const id of received) hiddenUntil.set(id, now + VisibilityTimeout);
    maxHidden = Math.max(maxHidden, VisibilityTimeout);
    await new Promise(setImmediate); // a failure arrives before the other responses
    return { Messages: received.map(id => ({ MessageId: id, ReceiptHandle: id, Body: id })) };
  };
  const target = localTarget({ DeadLetterQueueUrl: 'https://sqs.example/dead', Region: 'us-east-1' });
  const clock = { ...target.clock, now: () => now * 1_000 };
  const queues = openQueues({ ...target, clock, connect: (() => ({ send })) as never });
  const pass = (seconds: number) => {
    now += seconds;
  };
  return { queues, visible, pass, maxHidden: () => maxHidden };
}

const all = Number.POSITIVE_INFINITY;

describe('reading the dead-letter messages', () => {
  it.each([
    ['each message once with slow calls', 10_000, all, 0.15, 0, 10_000],
    ['each message once with slow processing', 1_000, all, 0.15, 1, 1_000],
    ['at most the limit', 1_000, 70, 0.15, 0, 70],
    ['no message from an empty queue', 0, all, 0.15, 0, 0],
  ])('reads %s, and makes all messages visible again', async (_, count, limit, callSeconds, secondsEach, expected) => {
    const { queues, visible, pass } = queueOf(count, callSeconds);
    const received: string[] = [];
    for await (const { body } of queues.deadLetters(limit)) {
      received.push(body);
      pass(secondsEach);
    }
    expect([received.length, new Set(received).size]).toEqual([expected, expected]);
    expect(visible()).toHaveLength(count);
  });

  it('fails if messages become visible again before all are read', async () => {
    const { queues, pass } = queueOf(1_000, 0.15, { hidesLonger: false });
    const readAll = async () => {
      for await (const _ of queues.deadLetters(all)) pass(1);
    };
    await expect(readAll()).rejects.toThrow(/^After \d+ messages, SQS returned them again\. Run the command again\.$/);
  });

  it('hides messages for at most 10 minutes, and extends the time only while the command runs', async () => {
    const { queues, visible, pass, maxHidden } = queueOf(20_000, 0.15);
    const deadLetters = queues.deadLetters(all);
    for (let received = 0; received < 1_000; received++) {
      await deadLetters.next();
      pass(1);
    }
    expect(visible().length).toBeLessThanOrEqual(19_000);
    expect(maxHidden()).toBeLessThanOrEqual(600); // then the command is killed
    pass(600);
    expect(visible()).toHaveLength(20_000);
  });

  it('stops if it is interrupted, and makes all messages visible again', async () => {
    const { queues, visible } = queueOf(30, 0.15);
    const interruption = new AbortController();
    const deadLetters = queues.deadLetters(all, { interruption: interruption.signal });
    await deadLetters.next();
    interruption.abort(new Error('interrupted'));
    await expect(deadLetters.next()).rejects.toThrow('interrupted');
    expect(visible()).toHaveLength(30);
  });

  it('stops if one of several receives fails, and makes all messages visible again', async () => {
    const { queues, visible } = queueOf(1_000, 0.15, { failsAt: 3 });
    await expect(queues.deadLetters(all).next()).rejects.toThrow('receive failed');
    expect(visible()).toHaveLength(1_000);
  });
});
