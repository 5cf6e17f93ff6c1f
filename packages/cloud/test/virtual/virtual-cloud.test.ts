import { GenerateDataKeyWithoutPlaintextCommand } from '@aws-sdk/client-kms';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import {
  type FaultPlan,
  makeVirtualCloud,
  type ProcessOutside,
  standardScaling,
} from '../../src/virtual/virtual-cloud.ts';

// That two programs do the same is tested with the worlds of the laboratory.

const everything: FaultPlan = {
  shares: { dies_before: 0.01, dies_after: 0.01, throttled: 0.05, failed: 0.02, request_lost: 0.05, slow: 0.05 },
  spells: [{ service: 'sqs', resource: 'back', count: 2, length: 3_000, within: 10_000, shares: { answer_lost: 0.8 } }],
  refusedEntries: 0.02,
  copies: 0.05,
  skew: 100,
};

/** Runs messages that go from a queue to another one and back, until they have gone five times. */
async function runWorld({ seed = 1, faults = {}, messages = 20, faultTime = hour }: WorldOptions) {
  const queues = ['there', 'back'];
  const functions = queues.map((queue, at) => ({
    name: `from-${queue}`,
    timeout: 10_000,
    sources: [{ queue, scaling: standardScaling(10) }],
    start: ({ time, random, log, kms, sqs }: ProcessOutside) =>
      async function passOn(event: SQSEvent) {
        await kms.send(new GenerateDataKeyWithoutPlaintextCommand({ KeyId: 'key' }));
        await Promise.all(
          event.Records.map(async ({ body }) => {
            const [number, left] = body.split('/').map(Number);
            await time.pause(random.number() * 50);
            const MessageBody = `${number}/${Number(left) - 1}`;
            if (left === 0) log(`done ${number} at ${time.now()}`);
            else await sqs.send(new SendMessageCommand({ QueueUrl: queues[1 - at], MessageBody }));
          }),
        );
      },
  }));
  const cloud = makeVirtualCloud({ seed, faults, functions, queues: queues.map(name => ({ name })) });
  for (let number = 0; number < messages; number += 1)
    cloud.send('there', { body: `${number}/5`, group: `${number % 3}` });
  cloud.at(cloud.now() + faultTime, cloud.endFaults);
  await cloud.run(cloud.now() + hour);
  const done = cloud.logs({ text: /^done/ }).map(({ text }) => text.split(' ')[1]);
  const deaths = cloud.trace(({ kind, text }) => kind === 'process' && text.includes('dies')).length;
  return { cloud, lines: done.length, done: new Set(done).size, deaths };
}

interface WorldOptions {
  readonly seed?: number;
  readonly faults?: FaultPlan;
  readonly messages?: number;
  readonly faultTime?: number;
}

/** In milliseconds. */
const hour = 3_600_000;

it('the same seed does the same, and another something else', async () => {
  const run = async (seed: number) => (await runWorld({ seed, faults: everything })).cloud;
  const [one, same, other] = [await run(7), await run(7), await run(8)];
  expect(same.digest()).toBe(one.digest());
  expect(same.trace()).toEqual(one.trace());
  expect(other.digest()).not.toBe(one.digest());
});

it('each message is done once where nothing goes wrong', async () => {
  expect(await runWorld({})).toMatchObject({ lines: 20, done: 20, deaths: 0 });
});

it.each([1, 2, 3])('loses no message, whatever goes wrong: seed %i', async seed => {
  const { done, deaths } = await runWorld({ seed, faults: everything });
  expect(done).toBe(20);
  expect(deaths).toBeGreaterThan(0);
});

it('loses no message where a process dies at any one of its calls', async () => {
  const { cloud } = await runWorld({ messages: 3 });
  const calls = cloud.trace(({ kind }) => kind === 'call').length;
  for (let deadly = 1; deadly <= calls; deadly += 1) {
    for (const fate of ['dies_before', 'dies_after'] as const) {
      let number = 0;
      const faults: FaultPlan = { fateOf: () => (++number === deadly ? fate : undefined) };
      expect(await runWorld({ messages: 3, faults })).toMatchObject({ done: 3, deaths: 1 });
    }
  }
});

it('nothing goes wrong once the faults have ended', async () => {
  expect(await runWorld({ faults: { shares: { request_lost: 1 } }, faultTime: 60_000 })).toMatchObject({ done: 20 });
});

it('calls the tables that it is given, and traces which they are', async () => {
  class GetCommand {
    readonly input = { TableName: 'things', Key: { id: 1 } };
  }
  const cloud = makeVirtualCloud({
    seed: 1,
    tables: () => ({ execute: ({ input }: GetCommand) => ({ Item: input.Key }) }),
    functions: [
      {
        name: 'f',
        timeout: 10_000,
        start:
          ({ dynamodb }) =>
          () =>
            dynamodb.send(new GetCommand()),
      },
    ],
  });
  expect(await cloud.invoke('f', {})).toMatchObject({ result: { Item: { id: 1 } } });
  expect(cloud.trace(({ kind }) => kind === 'call')).toMatchObject([{ text: 'f#1 dynamodb:Get things 1 fine ' }]);
});
