import { describe, expect, it } from 'vitest';
import { makeSimulatedQueue, type QueuedMessage } from '../../simulate/simulated-queue.ts';
import { makeVirtualTime } from '../../simulate/virtual-time.ts';

const messageOf = (account: string): QueuedMessage => ({ account, receives: 0, order: 0 });

const queueOf = ({ isFair = true } = {}) => {
  const time = makeVirtualTime();
  const queue = makeSimulatedQueue<QueuedMessage>(time, isFair, () => {});
  const send = (account: string, count: number) => {
    for (let sent = 0; sent < count; sent++) queue.push(messageOf(account));
  };
  const received = (most: number) => queue.take(most).map(({ account }) => account);
  return { time, queue, send, received };
};

describe('a fair queue', () => {
  it('takes an account for noisy that has more than a tenth, and at least thirty, of the messages in flight', () => {
    const { queue, send, received } = queueOf();
    send('noisy', 60);
    queue.take(30);
    send('quiet', 1);
    expect(received(1)).toEqual(['noisy']);
    queue.observe();
    expect(received(1)).toEqual(['quiet']);
  });

  it('takes one for noisy that has more than a tenth of the processing time, with a few messages', () => {
    const { time, queue, send, received } = queueOf();
    for (let index = 0; index < 20; index++) send(`quick-${index}`, 1);
    for (const message of queue.take(20)) queue.delete(message);
    send('slow', 4);
    queue.take(2);
    time.runUntil(1_000);
    queue.observe();
    send('quiet', 1);
    expect(received(2)).toEqual(['quiet', 'slow']);
  });

  it('gives the messages of the noisy account first that has the fewest in flight', () => {
    const { queue, send, received } = queueOf();
    send('one', 40);
    send('two', 35);
    queue.take(75);
    send('one', 10);
    send('two', 10);
    queue.observe();
    expect(received(1)).toEqual(['two']);
  });

  it('takes an account for quiet again once nothing of it waits', () => {
    const { queue, send, received } = queueOf();
    send('noisy', 60);
    queue.take(30);
    queue.observe();
    queue.take(30);
    queue.observe();
    send('noisy', 1);
    send('quiet', 1);
    expect(received(1)).toEqual(['noisy']);
  });
});

describe('any queue', () => {
  it('gives messages in the order in which they were sent, and one that is visible again before them', () => {
    const { time, queue, send, received } = queueOf({ isFair: false });
    send('first', 1);
    send('second', 1);
    const [message] = queue.take(1);
    if (message) queue.hide(message, 1_000);
    expect(queue.length()).toBe(1);
    time.runUntil(1_000);
    expect(received(2)).toEqual(['first', 'second']);
  });

  it('gives up a message that is received for the 101st time', () => {
    const { time, queue, send } = queueOf();
    send('one', 1);
    for (let second = 1; second <= 101; second++) {
      for (const message of queue.take(1)) queue.hide(message, 1_000);
      time.runUntil(second * 1_000);
    }
    expect(queue.deadLetters()).toBe(1);
    expect(queue.length()).toBe(0);
  });

  it('has 120,000 messages in flight at most', () => {
    const { queue, send } = queueOf({ isFair: false });
    send('one', 120_001);
    expect(queue.take(120_001)).toHaveLength(120_000);
    expect(queue.take(1)).toEqual([]);
  });
});
