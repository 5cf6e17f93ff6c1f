import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { makeAreMessagesWaiting } from '../../../../lambdas/delivery/isolation/queue-waiting.ts';
import { frozenClock } from '../../../support/clock.ts';
import { fakeTelemetry } from '../builders.ts';

const asking = (answers: (string | undefined | Error)[]) => {
  const clock = frozenClock();
  const telemetry = fakeTelemetry();
  let asked = 0;
  const send = async () => {
    const count = answers[asked++];
    if (count instanceof Error) throw count;
    return { Attributes: { ApproximateNumberOfMessages: count } };
  };
  const sqs = { send } as unknown as Pick<SQSClient, 'send'>;
  const areWaiting = makeAreMessagesWaiting({ ...telemetry, sqs, queueUrl: 'http://queue', now: clock.now });
  return { areWaiting, clock, asked: () => asked, ...telemetry };
};

describe('whether messages wait', () => {
  it.each([
    ['3', true],
    ['0', false],
    [undefined, false],
  ])('is what the queue says: %s', async (count, expected) => {
    expect(await asking([count]).areWaiting()).toBe(expected);
  });

  it('is asked once a second, however many ask', async () => {
    const { areWaiting, clock, asked } = asking(['1', '0']);
    expect(await Promise.all([areWaiting(), areWaiting(), areWaiting()])).toEqual([true, true, true]);
    clock.advance(999);
    expect(await areWaiting()).toBe(true);
    expect(asked()).toBe(1);
    clock.advance(1);
    expect(await areWaiting()).toBe(false);
    expect(asked()).toBe(2);
  });

  it('is no where the queue does not say', async () => {
    const { areWaiting, lines } = asking([new Error('no queue: canary-7f3a')]);
    expect(await areWaiting()).toBe(false);
    expect(lines.join()).toContain('queue.not_counted');
    expect(lines.join()).not.toContain('canary-7f3a');
  });
});
