import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { Fate } from '../../src/faults.ts';
import {
  makeVirtualCloud,
  type ProcessRuntime,
  ServiceError,
  type VirtualCloudDefinition,
} from '../../src/virtual/virtual-cloud.ts';

/** Invokes a function and returns the outcome. The attempts of its calls have these faults. */
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

async function callWith(fates: readonly Fate[], service = 'dynamodb', rejection?: ServiceError) {
  let effects = 0;
  const outcome = await run(fates, async ({ call, time }) => {
    const from = time.elapsed();
    const effect = () => {
      effects += 1;
      if (rejection) throw rejection;
      return { body: 'ok' };
    };
    const ended: unknown = await call({ service, operation: 'PutItem', takes: 8 }, effect).catch(error => error);
    return { ended, took: time.elapsed() - from };
  });
  return { status: outcome.status, ...(outcome.status === 'answered' && Object(outcome.result)), effects };
}

const throttlingName = 'ProvisionedThroughputExceededException';

it.each<[string, Fate[], string, object, number]>([
  ['the response', ['fine'], 'dynamodb', { body: 'ok', $metadata: { attempts: 1 } }, 1],
  ['the response to the second attempt', ['request_lost'], 'sqs', { body: 'ok', $metadata: { attempts: 2 } }, 1],
  ['the response after two effects', ['answer_lost'], 'sqs', { $metadata: { attempts: 2 } }, 2],
  ['a timeout error', ['request_lost', 'answer_lost', 'request_lost'], 'sqs', { name: 'TimeoutError' }, 1],
  ['a throttled table', thrice('throttled'), 'dynamodb', { name: throttlingName, $fault: 'client' }, 0],
  ['a throttled key', thrice('throttled'), 'kms', { name: 'ThrottlingException', $metadata: { attempts: 3 } }, 0],
  ['an internal error', thrice('failed'), 'sqs', { name: 'InternalServerError', $fault: 'server' }, 0],
])('ends a call: %s', async (_, fates, service, ended, effects) => {
  expect(await callWith(fates, service)).toMatchObject({ ended, effects });
});

function thrice(fate: Fate): Fate[] {
  return [fate, fate, fate];
}

it('does not retry a rejected call', async () => {
  const name = 'ConditionalCheckFailedException';
  const rejected = await callWith([], 'dynamodb', new ServiceError(name, 'no'));
  expect(rejected).toMatchObject({ ended: { name, $metadata: { attempts: 1 } }, effects: 1 });
});

it('takes the latency and the processor time of a call, and one second for an attempt without a response', async () => {
  expect((await callWith([])).took).toBeCloseTo(8 + 0.85 / (1_024 / 1_769));
  expect((await callWith(['request_lost'])).took).toBeGreaterThan(1_008);
});

it.each<[Fate, number]>([
  ['dies_before', 0],
  ['dies_after', 1],
])('kills the process, and the call never returns: %s', async (fate, effects) => {
  expect(await callWith([fate])).toEqual({ status: 'died', effects });
});

it('executes a part of a throttled DynamoDB batch', async () => {
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
