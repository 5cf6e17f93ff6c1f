import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { Fate } from '../src/faults.ts';
import { makeVirtualCloud, type ServedCall, ServiceError } from '../src/virtual-cloud.ts';

/** Has a function make one call whose tries meet these fates. */
async function meet(fates: readonly Fate[], service = 'dynamodb', refusal?: ServiceError) {
  let effects = 0;
  const cloud = makeVirtualCloud({
    seed: 1,
    faults: { fateOf: ({ number }) => fates[number - 1] },
    functions: [
      {
        name: 'f',
        timeout: 30_000,
        start:
          ({ call, time }) =>
          async () => {
            const from = time.elapsed();
            const effect = () => {
              effects += 1;
              if (refusal) throw refusal;
              return { told: 'answer' };
            };
            const ended = await call({ service, operation: 'PutItem', takes: 8 }, effect).catch(
              (error: unknown) => error,
            );
            return { ended, took: time.elapsed() - from };
          },
      },
    ],
  });
  const outcome = await cloud.invoke('f', {});
  return { status: outcome.status, ...(outcome.status === 'answered' && Object(outcome.result)), effects };
}

it.each<[string, Fate[], string, object, number]>([
  ['an answer', ['fine'], 'dynamodb', { told: 'answer', $metadata: { attempts: 1 } }, 1],
  ['a second try', ['request_lost'], 'sqs', { told: 'answer', $metadata: { attempts: 2 } }, 1],
  ['an effect that nobody was told of', ['answer_lost'], 'sqs', { $metadata: { attempts: 2 } }, 2],
  [
    'no answer',
    ['request_lost', 'answer_lost', 'request_lost'],
    'sqs',
    { name: 'TimeoutError', $metadata: { attempts: 3 } },
    1,
  ],
  [
    'throttling of a table',
    ['throttled', 'throttled', 'throttled'],
    'dynamodb',
    { name: 'ProvisionedThroughputExceededException', $fault: 'client' },
    0,
  ],
  [
    'throttling of a key',
    ['throttled', 'throttled', 'throttled'],
    'kms',
    { name: 'ThrottlingException', $metadata: { attempts: 3 } },
    0,
  ],
  ['a service that fails', ['failed', 'failed', 'failed'], 'sqs', { name: 'InternalServerError', $fault: 'server' }, 0],
])('a call ends with %s', async (_, fates, service, ended, effects) => {
  expect(await meet(fates, service)).toMatchObject({ ended, effects });
});

it('a refusal is not repeated', async () => {
  const refused = await meet([], 'dynamodb', new ServiceError('ConditionalCheckFailedException', 'no'));
  expect(refused).toMatchObject({
    ended: { name: 'ConditionalCheckFailedException', $metadata: { attempts: 1 } },
    effects: 1,
  });
});

it('a call takes its latency and the time of the thread; a try without answer a second', async () => {
  expect((await meet([])).took).toBeCloseTo(8 + 0.85 / (1_024 / 1_769));
  expect((await meet(['request_lost'])).took).toBeGreaterThan(1_008);
});

it.each<[Fate, number]>([
  ['dies_before', 0],
  ['dies_after', 1],
])('%s: the process dies, and the call is never answered', async (fate, effects) => {
  expect(await meet([fate])).toEqual({ status: 'died', effects });
});

it('tells of each try that gets to its service: whose it is, for how many, and how it was refused', async () => {
  const told: ServedCall[] = [];
  const fates: readonly Fate[] = ['request_lost', 'throttled', 'fine'];
  const cloud = makeVirtualCloud({
    seed: 1,
    onCall: call => told.push(call),
    faults: { fateOf: ({ number }) => fates[number - 1] },
    queues: [{ name: 'q' }],
    functions: [
      {
        name: 'f',
        timeout: 30_000,
        start: ({ sqs }) => {
          const Entries = ['a', 'b'].map(Id => ({ Id, MessageBody: Id }));
          return async (_, { awsRequestId }) => {
            await sqs.send(new SendMessageBatchCommand({ QueueUrl: 'q', Entries }));
            return awsRequestId;
          };
        },
      },
    ],
  });
  const outcome = await cloud.invoke('f', {});
  const invocationId = outcome.status === 'answered' && outcome.result;
  const about = { functionName: 'f', processId: 'f#1', service: 'sqs', operation: 'SendMessageBatch', resource: 'q' };
  expect(told).toEqual([
    { ...about, invocationId, entries: 2, error: 'RequestThrottled' },
    { ...about, invocationId, entries: 2 },
  ]);
});

it('a batch that DynamoDB refuses for now is refused entry by entry', async () => {
  const refused: boolean[] = [];
  const cloud = makeVirtualCloud({
    seed: 1,
    faults: { shares: { throttled: 1 } },
    tables: () => ({
      execute: (_, refuse) => {
        for (let entry = 0; entry < 50; entry += 1) refused.push(refuse?.()?.name === throttlingName);
        return {};
      },
    }),
    functions: [
      {
        name: 'f',
        timeout: 30_000,
        start:
          ({ dynamodb }) =>
          () =>
            dynamodb.send(batch),
      },
    ],
  });
  const batch = new BatchGetCommand({ RequestItems: { Things: { Keys: [{ id: 'a' }, { id: 'b' }] } } });
  await cloud.invoke('f', {});
  expect(new Set(refused)).toEqual(new Set([true, false]));
});

const throttlingName = 'ProvisionedThroughputExceededException';
