import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { openQueues } from '../../../../ops/stage/queues.ts';
import { localTarget } from '../../../../ops/stage/target.ts';

/** A queue of dead letters whose calls take time: what shows again comes first. */
function queueOf(count: number, callSeconds: number) {
  const hiddenUntil = new Map(Array.from({ length: count }, (_, id) => [`${id}`, 0]));
  let now = 0;
  const visible = () => [...hiddenUntil.keys()].filter(id => (hiddenUntil.get(id) ?? 0) <= now);
  const send = async (command: object) => {
    now += callSeconds;
    if (command instanceof GetQueueAttributesCommand) {
      return { Attributes: { ApproximateNumberOfMessages: `${visible().length}` } };
    }
    if (command instanceof ChangeMessageVisibilityBatchCommand) {
      for (const { ReceiptHandle = '' } of command.input.Entries ?? []) hiddenUntil.set(ReceiptHandle, now);
      return {};
    }
    if (!(command instanceof ReceiveMessageCommand)) throw new Error('The queue knows no such call.');
    const { MaxNumberOfMessages, VisibilityTimeout = 0 } = command.input;
    const received = visible().slice(0, MaxNumberOfMessages);
    for (const id of received) hiddenUntil.set(id, now + VisibilityTimeout);
    return { Messages: received.map(id => ({ MessageId: id, ReceiptHandle: id, Body: id })) };
  };
  const target = localTarget({ DeadLetterQueueUrl: 'https://sqs.example/dead', Region: 'us-east-1' });
  const queues = openQueues({ ...target, connect: (() => ({ send })) as never });
  const pass = (seconds: number) => {
    now += seconds;
  };
  return { queues, visible, pass };
}

const all = Number.POSITIVE_INFINITY;

describe('going through the dead letters', () => {
  // Bug: of 10,000 letters it saw 4,000, since those were visible again by then, and told nobody.
  it.each([
    ['each once, however long the calls take', 10_000, all, 0.15, 0, 10_000],
    ['each once, however long each of them takes', 1_000, all, 0.15, 1, 1_000],
    ['no more than it may', 1_000, 70, 0.15, 0, 70],
    ['nothing, where there is none', 0, all, 0.15, 0, 0],
  ])('sees %s, and then all show again', async (_, count, limit, callSeconds, secondsEach, expected) => {
    const { queues, visible, pass } = queueOf(count, callSeconds);
    const seen: string[] = [];
    for await (const { body } of queues.deadLetters(limit, secondsEach)) {
      seen.push(body);
      pass(secondsEach);
    }
    expect([seen.length, new Set(seen).size]).toEqual([expected, expected]);
    expect(visible()).toHaveLength(count);
  });

  it('fails where they show again before all were seen', async () => {
    const { queues, pass } = queueOf(1_000, 0.15);
    const goThrough = async () => {
      for await (const _ of queues.deadLetters(all)) pass(1);
    };
    await expect(goThrough()).rejects.toThrow(/^after \d+ dead letters the same ones show again: repeat the command.$/);
  });

  it('hides them no longer than it takes, where only some take their time', async () => {
    const { queues, visible, pass } = queueOf(10_000, 0.15);
    const letters = queues.deadLetters(all, 1, 100);
    await letters.next(); // and then it is killed
    pass(1_200);
    expect(visible()).toHaveLength(10_000);
  });
});
