import { expect, it } from 'vitest';
import { eventSourceOf, startQueueSource } from '../../../src/local/event-sources/queue-source.ts';
import type { InvocationOutcome, Invoke } from '../../../src/local/lambda/invocation.ts';
import { openQueues } from '../../sqs/open-queues.ts';
import { liveResource } from '../live-resource.ts';

const properties = {
  EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:events',
  FunctionName: 'Deliver:live',
  BatchSize: 5,
  FunctionResponseTypes: ['ReportBatchItemFailures'],
  ScalingConfig: { MaximumConcurrency: 8 },
};
const sourceOf = (changes: object) =>
  eventSourceOf(liveResource('AWS::Lambda::EventSourceMapping', { ...properties, ...changes }));

it('parses an event source mapping in the template', () => {
  const source = { queueArn: properties.EventSourceArn, functionName: 'Deliver', batchSize: 5, concurrency: 8 };
  expect(sourceOf({})).toEqual(source);
});

it.each([
  [{ BatchSize: 11 }, 'batches of over 10 messages are not supported locally'],
  [{ MaximumBatchingWindowInSeconds: 1 }, 'batching windows are not supported locally'],
  [{ EventSourceArn: 'arn:aws:kinesis:x' }, 'only SQS queues are supported as event sources locally'],
  [{ FilterCriteria: { Filters: [] } }, 'message filters are not supported locally'],
])('rejects %j', (changes, reason) => {
  expect(() => sourceOf(changes)).toThrow(reason);
});

/** Starts an event source in virtual time. Its queue contains one message. */
async function start(invoke: Invoke) {
  const { time, queue, send } = openQueues();
  send('one');
  const stop = startQueueSource({ batchSize: 10, concurrency: 5, queue, time, invoke });
  await time.runUntil(1);
  return { time, queue, stop };
}

const returned = (payload: string): InvocationOutcome => ({ outcome: 'returned', payload });
const failed: InvocationOutcome = { outcome: 'failed', error: { errorType: 'Error', errorMessage: '' } };

it.each([
  ['keeps the messages of a failed invocation', failed, 1],
  ['deletes the messages after an empty response', returned('null'), 0],
  ['keeps a message that has failed', returned('{"batchItemFailures":[{"itemIdentifier":"id-1"}]}'), 1],
])('%s', async (_, outcome, remaining) => {
  const { queue } = await start(async () => outcome);
  expect(queue.bodies()).toHaveLength(remaining);
});

it('stops when the current batches are complete, and receives no more messages', async () => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<InvocationOutcome>();
  const { time, queue, stop } = await start(() => finished);
  let hasStopped = false;
  const stopped = stop().then(() => {
    hasStopped = true;
  });
  queue.send({ body: 'two' }, 'me');
  await time.runUntil(10_000);
  expect(hasStopped).toBe(false);
  finish(returned('null'));
  await stopped;
  expect(queue.bodies()).toEqual(['two']);
});
