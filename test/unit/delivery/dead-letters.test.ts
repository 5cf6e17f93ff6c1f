import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { makeDeadLetters } from '../../../lambdas/delivery/dead-letters.ts';
import { makeDeliver } from '../../../lambdas/delivery/deliver.ts';
import { makeRedeliver } from '../../../lambdas/delivery/redeliver.ts';
import { fakeTelemetry } from './builders.ts';

describe('a message that cannot be processed', () => {
  const sqs = { send: () => Promise.reject(new Error('the queue is down')) } as never;
  const dependencies = { ...fakeTelemetry(), sendToDeadLetters: makeDeadLetters({ sqs, queueUrl: 'q' }), now: () => 0 };
  it.each([
    ['events', makeDeliver({ ...dependencies, demandsUrl: 'https://x.example.com' } as never)],
    ['retry', makeRedeliver(dependencies as never)],
  ])('stays on the %s queue while the dead-letter queue is out of reach', async (_, process) => {
    const record = { body: 'no JSON', messageId: 'm', attributes: {}, messageAttributes: {} } as SQSRecord;
    await expect(process(record)).rejects.toThrow('the queue is down');
  });
});
