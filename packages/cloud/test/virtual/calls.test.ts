import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { CallOutcome } from '../../src/faults.ts';
import {
  makeVirtualCloud,
  type ProcessRuntime,
  ServiceError,
  type VirtualCloudDefinition,
} from '../../src/virtual/virtual-cloud.ts';

/** Invokes a function that runs `act`, and returns the outcome. `outcomes` lists the outcome of each call attempt. */
async function run(
  outcomes: readonly CallOutcome[],
  act: (runtime: ProcessRuntime) => Promise<unknown>,
  others: Partial<VirtualCloudDefinition> = {},
) {
  const functions = [{ name: 'f', timeout: 30_000, start: (runtime: ProcessRuntime) => () => act(runtime) }];
  const remaining = [...outcomes];
  const faults = { outcomeOf: () => remaining.shift() };
  return makeVirtualCloud({ seed: 1, faults, functions, ...others }).invoke('f', {});
}

async function callWith(outcomes: readonly CallOutcome[], service = 'dynamodb', rejection?: ServiceError) {
  let effects = 0;
  const outcome = await run(outcomes, async ({ call, time }) => {
    const from = time.elapsed();
    const effect = () => {
      effects += 1;
      if (rejection) throw rejection;
      return { body: 'ok' };
    };
    const result: unknown = await call({ service, operation: 'PutItem', latency: 8 }, effect).catch(error => error);
    return { result, took: time.elapsed() - from };
  });
  return { status: outcome.status, ...(outcome.status === 'returned' && Object(outcome.result)), effects };
}

const throttlingName = 'ProvisionedThroughputExceededException';

it.each<[string, CallOutcome[], string, object, number]>([
  ['the response', ['fine'], 'dynamodb', { body: 'ok', $metadata: { attempts: 1 } }, 1],
  ['the response to the second attempt', ['request_lost'], 'sqs', { body: 'ok', $metadata: { attempts: 2 } }, 1],
  ['the response after two effects', ['response_lost'], 'sqs', { $metadata: { attempts: 2 } }, 2],
  ['a timeout error', ['request_lost', 'response_lost', 'request_lost'], 'sqs', { name: 'TimeoutError' }, 1],
  ['DynamoDB throttling', thrice('throttled'), 'dynamodb', { name: throttlingName, $fault: 'client' }, 0],
  ['KMS throttling', thrice('throttled'), 'kms', { name: 'ThrottlingException', $metadata: { attempts: 3 } }, 0],
  ['an internal error', thrice('failed'), 'sqs', { name: 'InternalServerError', $fault: 'server' }, 0],
])('ends a call with %s', async (_, outcomes, service, result, effects) => {
  expect(await callWith(outcomes, service)).toMatchObject({ result, effects });
});

function thrice(outcome: CallOutcome): CallOutcome[] {
  return [outcome, outcome, outcome];
}

it('does not retry a rejected call', async () => {
  const name = 'ConditionalCheckFailedException';
  const rejected = await callWith([], 'dynamodb', new ServiceError(name, 'no'));
  expect(rejected).toMatchObject({ result: { name, $metadata: { attempts: 1 } }, effects: 1 });
});

it('spends the latency and processor time of a call, and one second on an attempt without a response', async () => {
  expect((await callWith([])).took).toBeCloseTo(8 + 0.85 / (1_024 / 1_769));
  expect((await callWith(['request_lost'])).took).toBeGreaterThan(1_008);
});

it.each<[CallOutcome, number]>([
  ['dies_before', 0],
  ['dies_after', 1],
])('kills the process so that the call never returns: %s', async (outcome, effects) => {
  expect(await callWith([outcome])).toEqual({ status: 'died', effects });
});

it('executes a part of a throttled DynamoDB batch', async () => {
  const Keys = Array.from({ length: 50 }, (_, number) => ({ id: String(number) }));
  const batch = new BatchGetCommand({ RequestItems: { Things: { Keys } } });
  const outcome = await run(['throttled'], ({ dynamodb }) => dynamodb.send(batch), {
    tables: () => ({ execute: ({ input }: typeof batch) => ({ done: input.RequestItems?.Things?.Keys }) }),
  });
  const { done, UnprocessedKeys } = Object(outcome.status === 'returned' && outcome.result);
  const unprocessed = UnprocessedKeys.Things.Keys;
  expect([done.length > 0, unprocessed.length > 0]).toEqual([true, true]);
  expect(new Set([...done, ...unprocessed])).toEqual(new Set(Keys));
});
