import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { Fate } from '../../src/faults.ts';
import {
  makeVirtualCloud,
  type ProcessRuntime,
  ServiceError,
  type VirtualCloudDefinition,
} from '../../src/virtual/virtual-cloud.ts';

/** Returns the outcome of a function's calls, whose attempts have these faults. */
async function run(
  fates: readonly Fate[],
  act: (runtime: ProcessRuntime) => Promise<unknown>,
  others: Partial<VirtualCloudDefinition> = {},
) {
  const functions = [{ name: 'f', timeout: 30_000, start: (runtime: ProcessRuntime) => () => act(runtime) }];
  const left = [...fates];
  const faults = { fateOf: () => left.shift() };
  return makeVirtualCloud({ seed: 1, faults, functions, ...others }).invoke('f', {});
}

async function meet(fates: readonly Fate[], service = 'dynamodb', refusal?: ServiceError) {
  let effects = 0;
  const outcome = await run(fates, async ({ call, time }) => {
    const from = time.elapsed();
    const effect = () => {
      effects += 1;
      if (refusal) throw refusal;
      return { reported: 'answer' };
    };
    const ended: unknown = await call({ service, operation: 'PutItem', takes: 8 }, effect).catch(error => error);
    return { ended, took: time.elapsed() - from };
  });
  return { status: outcome.status, ...(outcome.status === 'answered' && Object(outcome.result)), effects };
}

const throttlingName = 'ProvisionedThroughputExceededException';

it.each<[string, Fate[], string, object, number]>([
  ['an answer', ['fine'], 'dynamodb', { reported: 'answer', $metadata: { attempts: 1 } }, 1],
  ['a second attempt', ['request_lost'], 'sqs', { reported: 'answer', $metadata: { attempts: 2 } }, 1],
  ['an effect whose response was lost', ['answer_lost'], 'sqs', { $metadata: { attempts: 2 } }, 2],
  ['no answer', ['request_lost', 'answer_lost', 'request_lost'], 'sqs', { name: 'TimeoutError' }, 1],
  ['throttling of a table', thrice('throttled'), 'dynamodb', { name: throttlingName, $fault: 'client' }, 0],
  ['throttling of a key', thrice('throttled'), 'kms', { name: 'ThrottlingException', $metadata: { attempts: 3 } }, 0],
  ['a service that fails', thrice('failed'), 'sqs', { name: 'InternalServerError', $fault: 'server' }, 0],
])('a call ends with %s', async (_, fates, service, ended, effects) => {
  expect(await meet(fates, service)).toMatchObject({ ended, effects });
});

function thrice(fate: Fate): Fate[] {
  return [fate, fate, fate];
}

it('a rejection is not retried', async () => {
  const name = 'ConditionalCheckFailedException';
  const refused = await meet([], 'dynamodb', new ServiceError(name, 'no'));
  expect(refused).toMatchObject({ ended: { name, $metadata: { attempts: 1 } }, effects: 1 });
});

it('a call takes its latency and processor time, and an attempt without a response a second', async () => {
  expect((await meet([])).took).toBeCloseTo(8 + 0.85 / (1_024 / 1_769));
  expect((await meet(['request_lost'])).took).toBeGreaterThan(1_008);
});

it.each<[Fate, number]>([
  ['dies_before', 0],
  ['dies_after', 1],
])('%s: the process dies, and the call never returns', async (fate, effects) => {
  expect(await meet([fate])).toEqual({ status: 'died', effects });
});

it('a batch that DynamoDB throttles is executed in part', async () => {
  const Keys = Array.from({ length: 50 }, (_, number) => ({ id: String(number) }));
  const batch = new BatchGetCommand({ RequestItems: { Things: { Keys } } });
  const outcome = await run(['throttled'], ({ dynamodb }) => dynamodb.send(batch), {
    tables: () => ({ execute: ({ input }: typeof batch) => ({ done: input.RequestItems?.Things?.Keys }) }),
  });
  const { done, UnprocessedKeys } = Object(outcome.status === 'answered' && outcome.result);
  const left = UnprocessedKeys.Things.Keys;
  expect([done.length > 0, left.length > 0]).toEqual([true, true]);
  expect(new Set([...done, ...left])).toEqual(new Set(Keys));
});
