import { describe, expect, it } from 'vitest';
import { eventSourceOf } from '../../../src/local/event-sources/mapping.ts';
import { liveResource } from '../live-resource.ts';

const EventSourceArn = 'arn:aws:sqs:us-east-1:000000000000:events';
const sourceOf = (properties: object) =>
  eventSourceOf(
    liveResource('AWS::Lambda::EventSourceMapping', { EventSourceArn, FunctionName: 'Deliver', ...properties }),
  );

describe('an event source of the template', () => {
  it('may have batches of up to ten, and a maximum concurrency', () => {
    const properties = {
      BatchSize: 5,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 8 },
    };
    expect(sourceOf(properties)).toEqual({
      queueArn: EventSourceArn,
      functionName: 'Deliver',
      batchSize: 5,
      reportsItemFailures: true,
      concurrency: 8,
    });
  });

  it.each([
    'Deliver',
    'Deliver:live',
    'arn:aws:lambda:us-east-1:000000000000:function:Deliver',
    'arn:aws:lambda:us-east-1:000000000000:function:Deliver:live',
  ])('invokes the function that %s leads to', FunctionName => {
    expect(sourceOf({ FunctionName })).toMatchObject({ functionName: 'Deliver' });
  });

  it('has batches of ten and no maximum by default', () => {
    expect(sourceOf({})).toMatchObject({ batchSize: 10, concurrency: Number.POSITIVE_INFINITY });
  });

  it.each([
    [{ BatchSize: 11 }, 'batches of over 10 messages are not supported locally'],
    [{ MaximumBatchingWindowInSeconds: 1 }, 'batching windows are not supported locally'],
    [{ EventSourceArn: 'arn:aws:kinesis:x' }, 'only SQS queues are event sources locally'],
    [{ FilterCriteria: { Filters: [] } }, 'message filters are not supported locally'],
  ])('%j is refused', (properties, reason) => {
    expect(() => sourceOf(properties)).toThrow(reason);
  });
});
