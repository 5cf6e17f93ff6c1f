import { GenerateDataKeyWithoutPlaintextCommand } from '@aws-sdk/client-kms';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { type FaultPlan, makeVirtualCloud, type ProcessRuntime } from '../../src/virtual/virtual-cloud.ts';

// The tests of `lab/world` check that two programs produce the same events.

const faults: FaultPlan = {
  shares: { dies_before: 0.01, dies_after: 0.01, throttled: 0.05, failed: 0.02, request_lost: 0.05, slow: 0.05 },
  outages: [
    { service: 'sqs', resource: 'back', count: 2, length: 3_000, within: 10_000, shares: { response_lost: 0.8 } },
  ],
  refusedEntries: 0.02,
  copies: 0.05,
  skew: 100,
};

/** Runs functions that move messages between two queues five times. */
async function runWorld(seed: number) {
  const queues = ['there', 'back'];
  const functions = queues.map((queue, at) => ({
    name: `from-${queue}`,
    timeout: 10_000,
    sources: [{ queue, concurrency: 10 }],
    start: ({ time, random, log, kms, sqs }: ProcessRuntime) =>
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
  for (let number = 0; number < 20; number += 1) cloud.send('there', { body: `${number}/5`, group: `${number % 3}` });
  cloud.at(cloud.now() + 60_000, cloud.endFaults);
  await cloud.run(cloud.now() + 3_600_000);
  const done = new Set(cloud.logs({ text: /^done/ }).map(({ text }) => text.split(' ')[1])).size;
  const deaths = cloud.trace(({ kind, text }) => kind === 'process' && text.includes('dies')).length;
  return { digest: cloud.digest(), trace: cloud.trace(), done, deaths };
}

it('produces the same events with the same seed, different events with another seed, and loses no message', async () => {
  const [one, same, other] = [await runWorld(7), await runWorld(7), await runWorld(8)];
  expect(same).toEqual(one);
  expect(other.digest).not.toBe(one.digest);
  for (const { done, deaths } of [one, other]) expect([done, deaths > 0]).toEqual([20, true]);
});

it('executes commands on its tables, and traces the table names', async () => {
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
