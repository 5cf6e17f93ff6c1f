import { describe, expect, it } from 'vitest';
import { eventSourceOf } from '../../../../local/event-sources/definition.ts';

const sourceOf = (properties: object) =>
  eventSourceOf({
    stack: 'App-local-Delivery',
    logicalId: 'Mapping',
    type: 'AWS::Lambda::EventSourceMapping',
    properties: { EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:events', FunctionName: 'Deliver', ...properties },
  });

describe('an event source of the template', () => {
  it('may have batches of up to 10,000 with a window, and a number of places', () => {
    const properties = {
      BatchSize: 10_000,
      MaximumBatchingWindowInSeconds: 5,
      ScalingConfig: { MaximumConcurrency: 8 },
    };
    expect(sourceOf(properties)).toMatchObject({ batchSize: 10_000, batchingWindow: 5, concurrency: 8 });
  });

  it('has ten places for each provisioned poller', () => {
    const ProvisionedPollerConfig = { MinimumPollers: 2, MaximumPollers: 5 };
    expect(sourceOf({ ProvisionedPollerConfig })).toMatchObject({ concurrency: 50 });
  });

  it('has batches of ten, no window and no bound of its own unless told otherwise', () => {
    expect(sourceOf({})).toMatchObject({ batchSize: 10, batchingWindow: 0, concurrency: Number.POSITIVE_INFINITY });
  });

  it.each([
    [{ BatchSize: 11 }, 'a batch of over 10 messages needs a window of at least 1 s'],
    [{ BatchSize: 10_001, MaximumBatchingWindowInSeconds: 1 }, 'BatchSize'],
    [{ MaximumBatchingWindowInSeconds: 301 }, 'MaximumBatchingWindowInSeconds'],
  ])('%j is refused, as by AWS', (properties, reason) => {
    expect(() => sourceOf(properties)).toThrow(reason);
  });
});
