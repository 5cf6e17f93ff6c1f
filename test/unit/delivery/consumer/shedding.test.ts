import { beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { answer } from '../builders.ts';

let world: DeliveryWorld;

/** One more than a webhook has places in a process. */
const messages = 26;

const second = 1_000;
const shedLines = () => world.lines.map(line => JSON.parse(line)).filter(([name]) => name === 'delivery.shed');

/** Has these messages wait in a lane. */
const begin = async (lane: 'first' | 'retry') => {
  world = makeDeliveryWorld();
  await world.register();
  for (let message = 0; message < messages; message++) {
    world.publishEvent();
    if (lane === 'first') continue;
    world.answers.push(answer(500));
    await world.step('first');
  }
  await world.pass(5 * second);
  world.posts.length = 0;
};

/** Has a process take all messages. Their receivers answer after a second. */
const takeAll = async (lane: 'first' | 'retry') => {
  world.answers.push(...Array(messages).fill({ ...answer(200), takesMs: second }));
  await world.stepBatch(lane, messages);
};

describe.each([
  ['first', 'events', { attempt: 1, charged: 0, attempts: [] }],
  ['retry', 'retries', { attempt: 2, charged: 1 }],
] as const)('a message in the %s lane whose webhook has all its places', (lane, queue, stored) => {
  beforeEach(() => begin(lane));
  /** Has processes receive all messages, and die before they do anything. */
  const receiveAll = async (times: number) => {
    for (let receive = 0; receive < times; receive++) {
      await world.stepBatch(lane, messages, { afterCalls: 0, hasEffect: false });
      await world.pass(181 * second);
    }
  };

  it('is shed: it is hidden for a moment, and nothing of it is stored', async () => {
    const now = world.now();
    await takeAll(lane);
    expect(world.posts).toHaveLength(messages - 1);
    const others = world.deliveries().filter(({ state }) => state !== 'delivered');
    expect(others).toMatchObject(lane === 'first' ? [] : [stored]);
    expect(world.waiting(queue)).toMatchObject([{ visibleAt: now + second }]);
    await world.settle();
    expect(world.posts).toHaveLength(messages);
  });

  it('has one line in the log, by which it is found', async () => {
    await takeAll(lane);
    const described = { account: 'conta-1', event: 'demanda.criada', deliveryId: expect.stringMatching(/^evt_/) };
    expect(shedLines()).toMatchObject([['delivery.shed', described]]);
  });

  it('is shed four times, with one line in the log', async () => {
    await receiveAll(3);
    const now = world.now();
    await takeAll(lane);
    expect(world.waiting(queue)).toMatchObject([{ visibleAt: now + second }]);
    expect(shedLines()).toHaveLength(1);
  });

  it('is stored when it comes for the fifth time, and its attempt is made 2 to 4 s later, uncharged', async () => {
    await receiveAll(4);
    const now = world.now();
    await takeAll(lane);
    expect(world.posts).toHaveLength(messages - 1);
    const wait = { nextAttemptAt: now + 3 * second };
    expect(world.deliveries().filter(({ state }) => state === 'pending')).toMatchObject([{ ...stored, wait }]);
    expect(world.waiting('retries')).toMatchObject([{ visibleAt: now + 3 * second }]);
  });
});

it('a message finds the places again of those that failed', async () => {
  await begin('retry');
  world.between('BatchGetCommand', () => Promise.reject(new Error('the store is down'))); // they are read together
  await world.stepBatch('retry', messages - 1);
  expect(world.deferrals()).toHaveLength(messages - 1);
  await world.pass(181 * second);
  await takeAll('retry');
  expect(world.posts).toHaveLength(messages - 1);
});
