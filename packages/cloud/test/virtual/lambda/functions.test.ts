import type { SQSEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import {
  type FaultPlan,
  type FunctionDefinition,
  makeVirtualCloud,
  type ProcessRuntime,
} from '../../../src/virtual/virtual-cloud.ts';

type Definition = Partial<FunctionDefinition<ProcessRuntime>>;

function makeCloud(definition: Definition, faults: FaultPlan = {}) {
  const functions = [{ name: 'f', timeout: 10_000, start: () => () => undefined, ...definition }];
  return makeVirtualCloud({ seed: 1, start: 0, queues: [{ name: 'q', visibilityTimeout: 60 }], functions, faults });
}

/** Kills the process on its first call. */
function dyingOnce(): FaultPlan {
  const outcomes = ['dies_after' as const];
  return { outcomeOf: () => outcomes.shift() };
}

const sources = [{ queue: 'q', concurrency: 5 }];

describe('an invocation', () => {
  it.each<[string, Definition, object]>([
    ['a response', { start: () => async () => ({ a: 1 }) }, { status: 'returned', result: { a: 1 } }],
    ['an error', { start: () => () => Promise.reject(new TypeError('bad')) }, { error: new TypeError('bad') }],
    ['a timeout', { start: () => () => new Promise(() => {}) }, { status: 'died' }],
    ['a process that does not start', { start: () => Promise.reject(new Error('no key')) }, { status: 'failed' }],
    ['throttling', { concurrency: 0 }, { status: 'throttled' }],
  ])('ends with %s', async (_, definition, outcome) => {
    expect(await makeCloud(definition).invoke('f', {})).toMatchObject(outcome);
  });

  it('receives a context with the function name, the request id and the remaining time', async () => {
    const start: Definition['start'] = runtime => async (_, context) => {
      await runtime.time.pause(1_000);
      return { ...context, remaining: context.getRemainingTimeInMillis() };
    };
    const about = { functionName: 'f', functionVersion: '1', awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) };
    expect(await makeCloud({ start }).invoke('f', {})).toMatchObject({ result: { ...about, remaining: 9_000 } });
  });

  it('freezes pending work until the next invocation', async () => {
    const start: Definition['start'] = runtime => () => void runtime.time.after(500, () => runtime.log('timer'));
    const cloud = makeCloud({ start });
    await cloud.invoke('f', {});
    await cloud.run(60_000);
    expect(cloud.logs()).toEqual([]);
    await cloud.invoke('f', {});
    await cloud.run(120_000);
    const logs = cloud.logs({ text: 'timer', from: 60_000 });
    expect(logs).toMatchObject([{ at: 60_020, functionName: 'f', processId: 'f#1' }]);
  });

  it('is throttled if the account has reached its maximum concurrency', async () => {
    const start: Definition['start'] =
      ({ time }) =>
      () =>
        time.pause(1_000);
    const functions = ['f', 'g'].map(name => ({ name, timeout: 10_000, start }));
    const cloud = makeVirtualCloud({ seed: 1, start: 0, functions, concurrency: 2 });
    const outcomes: string[] = [];
    const invokeAt = (moment: number, name: string) =>
      cloud.at(moment, () =>
        cloud.function(name).invoke({}, ({ status }) => outcomes.push(`${name} ${moment} ${status}`)),
      );
    for (const moment of [0, 1, 2, 2_000]) invokeAt(moment, moment === 1 ? 'f' : 'g');
    await cloud.run(10_000);
    expect(outcomes).toEqual(['g 2 throttled', 'g 0 returned', 'f 1 returned', 'g 2000 returned']);
  });

  // Regression: The death of a process released its concurrency twice. The dead process received a later invocation.
  it('releases its concurrency only once if its process dies after the response', async () => {
    const start: Definition['start'] =
      ({ call, time }) =>
      event => {
        if (event !== 'first') return time.pause(1_000);
        void call({ service: 'other', operation: 'Do', latency: 100 }, () => ({}));
        return undefined;
      };
    const functions = [{ name: 'f', timeout: 10_000, start }];
    const faults = dyingOnce();
    const cloud = makeVirtualCloud({ seed: 1, start: 0, functions, concurrency: 1, faults });
    const outcomes: string[] = [];
    const invokeAt = (moment: number, event: string) =>
      cloud.at(moment, () => cloud.function('f').invoke(event, ({ status }) => outcomes.push(`${event} ${status}`)));
    invokeAt(0, 'first');
    invokeAt(5_000, 'second');
    invokeAt(5_100, 'third');
    invokeAt(30_000, 'fourth');
    await cloud.run(60_000);
    expect(outcomes).toEqual(['first returned', 'third throttled', 'second returned', 'fourth returned']);
  });

  it('is started by a schedule', async () => {
    const started: number[] = [];
    const start: Definition['start'] = runtime => () => started.push(runtime.time.now());
    await makeCloud({ schedule: { every: 60_000 }, start }).run(200_000);
    expect(started).toEqual([60_420, 120_020, 180_020]);
  });
});

describe('an event source', () => {
  it('deletes successful messages, and receives failed messages again', async () => {
    const received: string[][] = [];
    const start = () => (event: SQSEvent) => {
      received.push(event.Records.map(({ body }) => body));
      const isFirst = received.length === 1;
      const failed = event.Records.filter(({ body }) => body === 'b' && isFirst);
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    };
    const cloud = makeCloud({ sources, start });
    for (const body of ['a', 'b', 'c']) cloud.send('q', { body });
    await cloud.run(180_000);
    expect(received).toEqual([['a', 'b', 'c'], ['b']]);
    expect(cloud.queue('q').bodies()).toEqual([]);
  });

  it('receives the batch of a dead process again after the visibility timeout', async () => {
    const start: Definition['start'] = runtime => async () =>
      void (await runtime.call({ service: 'other', operation: 'Do' }, () => ({})));
    const cloud = makeCloud({ sources, start }, dyingOnce());
    cloud.send('q', { body: 'a' });
    await cloud.run(180_000);
    const reported = cloud.trace(({ kind }) => kind === 'process').map(({ text }) => text);
    expect(reported).toEqual(['f#1 starts', 'f#1 dies: after other:Do', 'f#2 starts']);
    expect(cloud.queue('q').bodies()).toEqual([]);
  });
});
