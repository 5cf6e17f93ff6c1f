import { DeleteMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeMoveToDeadLetters } from '../../../../lambdas/delivery/intake/dead-letters.ts';
import { makeFirstAttempt } from '../../../../lambdas/delivery/worker/first-attempt.ts';
import { makeRetry } from '../../../../lambdas/delivery/worker/retry.ts';
import { fakeTelemetry } from '../builders.ts';

const recordOf = (attributes: Partial<SQSRecord['attributes']>, body = 'no JSON') =>
  ({ body, messageId: 'm', attributes, messageAttributes: {} }) as SQSRecord;

describe('a message that cannot be processed', () => {
  const sqs = { send: () => Promise.reject(new Error('the queue is down')) } as never;
  const moveToDeadLetters = makeMoveToDeadLetters({
    ...fakeTelemetry(),
    sqs,
    queueUrl: 'q',
    deadLetterQueueUrl: 'dead',
  });
  const dependencies = { ...fakeTelemetry(), moveToDeadLetters, now: () => 0 };
  it.each([
    ['events', makeFirstAttempt({ ...dependencies, demandsUrl: 'https://x.example.com' } as never)],
    ['retry', makeRetry(dependencies as never)],
  ])('stays on the %s queue while the dead-letter queue is out of reach', async (_, process) => {
    await expect(process(recordOf({}))).rejects.toThrow('the queue is down');
  });
});

it.each([
  ['events', makeFirstAttempt, 'event.refused'],
  ['retry', makeRetry, 'retry.refused'],
])('of the %s queue is told of before its message is deleted', async (_, make, name) => {
  const telemetry = fakeTelemetry();
  const told: boolean[] = [];
  const send = async (command: unknown) => {
    if (command instanceof DeleteMessageCommand) told.push(telemetry.lines.some(line => line.includes(name)));
  };
  const queues = { queueUrl: 'q', deadLetterQueueUrl: 'dead' };
  const moveToDeadLetters = makeMoveToDeadLetters({ ...telemetry, ...queues, sqs: { send } as never });
  const others = { now: () => 0, demandsUrl: 'https://x.example.com', refusals: { add: () => undefined } };
  await make({ ...telemetry, ...others, moveToDeadLetters } as never)(recordOf({}));
  expect(told).toEqual([true]);
});

describe('a dead letter', () => {
  const put = async (attributes: Partial<SQSRecord['attributes']>) => {
    const sent: SendMessageCommand[] = [];
    const sqs = { send: async (command: SendMessageCommand) => void sent.push(command) } as never;
    const record = recordOf(attributes, ' { "body": unchanged }\u0000 ');
    const move = makeMoveToDeadLetters({ ...fakeTelemetry(), sqs, queueUrl: 'q', deadLetterQueueUrl: 'dead' });
    await move(record, { reason: 'malformed', detail: 'no JSON' }, () => undefined);
    return sent[0]?.input;
  };

  it('goes without a sender where nobody knows one: SQS would refuse an empty attribute', async () => {
    for (const attributes of [{}, { SenderId: '' }]) {
      expect(Object.keys((await put(attributes))?.MessageAttributes ?? {})).not.toContain('sender');
    }
  });
});

describe('a message that is a dead letter by now', () => {
  it.each([false, true])('is deleted from its queue at once (that fails: %s)', async fails => {
    const calls: object[] = [];
    const sqs = {
      send: async (command: SendMessageCommand | DeleteMessageCommand) => {
        calls.push([command.constructor, command.input.QueueUrl]);
        if (!(command instanceof DeleteMessageCommand)) return;
        expect(command.input.ReceiptHandle).toBe('receipt');
        if (fails) throw new Error('the queue is down');
      },
    } as never;
    const telemetry = fakeTelemetry();
    const move = makeMoveToDeadLetters({ ...telemetry, sqs, queueUrl: 'q', deadLetterQueueUrl: 'dead' });
    const rejection = { reason: 'malformed', detail: 'no JSON' } as const;
    await move({ ...recordOf({}), receiptHandle: 'receipt' }, rejection, () => undefined);
    expect(calls).toEqual([
      [SendMessageCommand, 'dead'],
      [DeleteMessageCommand, 'q'],
    ]);
    expect(telemetry.lines.filter(line => line.includes('message.not_deleted'))).toHaveLength(fails ? 1 : 0);
  });
});
