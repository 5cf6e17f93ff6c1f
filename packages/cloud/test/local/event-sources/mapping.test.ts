import { describe, expect, it } from 'vitest';
import { eventSourceOf, makeScaling } from '../../../src/local/event-sources/mapping.ts';
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

describe('scaling', () => {
  /** The scaling of a source that is always busy, and what lets time pass. */
  const busySource = (most: number) => {
    let moment = 0;
    const scaling = makeScaling(most, () => moment);
    const pass = (milliseconds: number): void => {
      for (const end = moment + milliseconds; ; ) {
        const left = scaling.untilIncrease();
        if (left === undefined || moment + left > end) {
          moment = end;
          return;
        }
        moment += left;
        scaling.increase();
        scaling.received(scaling.limit, true);
      }
    };
    return { scaling, pass };
  };

  it('begins with five batches at once, and never has more than the maximum', () => {
    expect(makeScaling(50).limit).toBe(5);
    expect(makeScaling(Number.POSITIVE_INFINITY).limit).toBe(5);
    const { scaling, pass } = busySource(2);
    expect(scaling.limit).toBe(2);
    pass(60_000);
    expect(scaling.limit).toBe(2);
  });

  it('grows by five a second while messages remain, up to the maximum', () => {
    const { scaling, pass } = busySource(50);
    pass(1_000);
    expect(scaling.limit).toBe(10);
    pass(5_000);
    expect(scaling.limit).toBe(35);
    pass(5_000);
    expect(scaling.limit).toBe(50);
  });

  it('falls to the batches in process when the queue is empty, and to five at least', () => {
    const { scaling, pass } = busySource(50);
    pass(4_000);
    expect(scaling.limit).toBe(25);
    scaling.received(12, false);
    expect(scaling.limit).toBe(12);
    pass(100);
    scaling.received(3, false);
    expect(scaling.limit).toBe(5);
  });

  it('begins again with the first batch after a pause', () => {
    const { scaling, pass } = busySource(50);
    pass(2_000);
    scaling.received(1, true);
    expect(scaling.limit).toBe(5);
    expect(scaling.untilIncrease()).toBe(200);
  });
});
