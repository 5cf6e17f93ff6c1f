import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type FaultPlan, makeVirtualCloud } from '../src/virtual-cloud.ts';
import { hour, makeSmallWorld } from './small-world.ts';

const everything: FaultPlan = {
  shares: {
    dies_before: 0.01,
    dies_after: 0.01,
    throttled: 0.05,
    failed: 0.02,
    request_lost: 0.05,
    answer_lost: 0.05,
    slow: 0.05,
  },
  spells: [
    { service: 'sqs', resource: 'back', count: 2, length: 3_000, within: 10_000, shares: { request_lost: 0.8 } },
  ],
  refusedSends: 0.02,
  copies: 0.05,
  skew: 100,
};

async function runWorld(seed: number, faults?: FaultPlan, messages?: number) {
  const cloud = makeSmallWorld(seed, faults, messages);
  await cloud.run(cloud.now() + hour);
  return cloud;
}

/** The numbers of the messages that have gone often enough. */
const doneIn = (cloud: ReturnType<typeof makeSmallWorld>) =>
  new Set(cloud.logs({ text: /^done/ }).map(({ text }) => text));

it('the same seed does the same, and another something else', async () => {
  const [one, same, other] = [
    await runWorld(7, everything),
    await runWorld(7, everything),
    await runWorld(8, everything),
  ];
  expect(same.digest()).toBe(one.digest());
  expect(same.trace()).toEqual(one.trace());
  expect(other.digest()).not.toBe(one.digest());
});

it('does the same in another program', async () => {
  const program = join(import.meta.dirname, 'small-world.ts');
  const said = execFileSync(process.execPath, [program, '3'], { encoding: 'utf8' });
  expect(said.trim()).toBe((await runWorld(3, { shares: { slow: 0.1, answer_lost: 0.1 } })).digest());
});

it('each message is done once where nothing goes wrong', async () => {
  const cloud = await runWorld(1);
  expect(doneIn(cloud).size).toBe(20);
  expect(cloud.logs({ text: /^done/ })).toHaveLength(20);
});

it.each([1, 2, 3, 4, 5])('loses no message, whatever goes wrong: seed %i', async seed => {
  const cloud = await runWorld(seed, everything);
  expect(doneIn(cloud).size).toBe(20);
  expect(cloud.trace(({ kind, text }) => kind === 'process' && text.includes('dies')).length).toBeGreaterThan(0);
});

it('loses no message where a process dies at any one of its calls', async () => {
  const calls = (await runWorld(1, {}, 6)).trace(({ kind }) => kind === 'call').length;
  for (let deadly = 1; deadly <= calls; deadly += 1) {
    for (const fate of ['dies_before', 'dies_after'] as const) {
      const cloud = await runWorld(1, { fateOf: ({ number }) => (number === deadly ? fate : undefined) }, 6);
      expect(doneIn(cloud).size).toBe(6);
      expect(cloud.trace(({ kind, text }) => kind === 'process' && text.includes('dies'))).toHaveLength(1);
    }
  }
});

it('nothing goes wrong once the faults have ended', async () => {
  const cloud = makeSmallWorld(1, { shares: { request_lost: 1 } });
  cloud.at(cloud.now() + 60_000, cloud.endFaults);
  await cloud.run(cloud.now() + hour);
  expect(doneIn(cloud).size).toBe(20);
});

it('calls the tables that it is given, and traces which they are', async () => {
  class GetCommand {
    readonly input = { TableName: 'things', Key: { id: 1 } };
  }
  const cloud = makeVirtualCloud({
    seed: 1,
    tables: ({ now }) => ({
      execute: (command: GetCommand) => ({ Item: { ...command.input.Key, at: now() - start } }),
    }),
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
  const start = cloud.now();
  expect(await cloud.invoke('f', {})).toMatchObject({ result: { Item: { id: 1, at: expect.any(Number) } } });
  expect(cloud.trace(({ kind }) => kind === 'call')).toMatchObject([{ text: 'f#1 dynamodb:Get things 1 fine ' }]);
});
