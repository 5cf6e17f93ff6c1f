import { beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { everyCrash } from '../../../support/delivery-world/every-crash.ts';
import { answer, noon } from '../builders.ts';

const second = 1_000;
const day = 24 * 60 * 60 * second;

let world: DeliveryWorld;

const elsewhere = 'https://elsewhere.example.com/';
const begin = async (health = {}) => {
  world = makeDeliveryWorld([5 * second]);
  await world.register(health);
  world.publishEvent();
};
const comeBack = () => world.pass(181 * second);
const announced = async () => {
  await world.sweep();
  return world.announced.map(({ type, reason, lastResult, deliveryId }) => ({ type, reason, lastResult, deliveryId }));
};
const storeIsDown = () => Promise.reject(new Error('the store is down'));

/** An outcome that suspends its webhook. */
interface Cause {
  readonly health?: object;
  readonly lane: 'first' | 'retry';
  readonly status: number;
  readonly state: string;
  readonly suspensionReason: string;
  /** The reason as operators are told it. */
  readonly reason: string;
}
const gone = { status: 410, state: 'held', suspensionReason: 'gone', reason: 'gone' };
const failing = { failingSince: noon - 5 * day, failingMark: 4 * day };
const exhaustion: Cause = {
  health: failing,
  lane: 'retry',
  status: 500,
  state: 'failed',
  suspensionReason: 'no_success',
  reason: 'sem_sucesso',
};
const causes: readonly [string, Cause][] = [
  ['a first 410', { lane: 'first', ...gone }],
  ['a 410 of a retry', { lane: 'retry', ...gone }],
  ['the attempt that exhausts after five days', exhaustion],
];
/** Has all that comes before the outcome happen. */
const untilCause = async ({ health, lane, status }: Cause) => {
  await begin(health);
  if (lane === 'retry') {
    world.answers.push(answer(500));
    await world.step('first');
    if (world.posts.length === 0) await world.step('retry'); // what keeps failing is left to it
    await world.pass(5 * second);
  }
  world.answers.push(answer(status), answer(status));
};

describe.each(causes)('%s', { timeout: 30_000 }, (_, cause) => {
  const { lane, state, suspensionReason, reason } = cause;
  const suspended = { status: 'suspended', suspensionReason };

  it('suspends before its outcome is stored, and leaves the delivery held if that fails', async () => {
    await untilCause(cause);
    world.between('PutCommand', storeIsDown);
    await world.step(lane);
    expect(world.deferrals()).toEqual(['Error']);
    expect(await world.webhook()).toMatchObject(suspended);
    const sent = world.posts.length;
    await comeBack();
    await world.step(lane);
    expect(world.only()).toMatchObject({ state: 'held' });
    expect(world.posts).toHaveLength(sent);
  });

  it('is repeated if the suspension cannot be stored', async () => {
    await untilCause(cause);
    const sent = world.posts.length;
    world.between('UpdateCommand', storeIsDown);
    await world.step(lane);
    expect(world.deferrals()).toEqual(['Error']);
    expect(await world.webhook()).toMatchObject({ status: 'active' });
    await comeBack();
    await world.step(lane);
    const { id: deliveryId } = world.only();
    expect(world.only()).toMatchObject({ state });
    expect(await world.webhook()).toMatchObject(suspended);
    expect(await announced()).toEqual([{ type: 'webhook.suspended', reason, lastResult: 'http', deliveryId }]);
    expect(world.logged('webhook.suspended')).toBe(1);
    expect(world.posts).toHaveLength(sent + 2);
  });

  it('suspends and ends, wherever a process dies', () =>
    everyCrash(async crash => {
      await untilCause(cause);
      await world.step(lane, crash);
      await world.settle();
      expect([state, 'held']).toContain(world.only().state);
      expect(await world.webhook()).toMatchObject(suspended);
      expect(await announced()).toMatchObject([{ type: 'webhook.suspended', deliveryId: world.only().id }]);
    }));
});

describe('a 410', { timeout: 30_000 }, () => {
  beforeEach(() => begin());
  const replaceUrl = () => world.register({ url: elsewhere, resetAt: world.now() });

  // It was held for ever: its webhook was active, at the new URL, and nobody had a reason to reactivate it.
  it('of a URL that was replaced meanwhile is an ordinary failure, wherever a process dies', () =>
    everyCrash(async crash => {
      await begin();
      world.during.push(replaceUrl);
      world.answers.push(answer(410));
      await world.step('first', crash);
      await world.settle();
      expect(world.only()).toMatchObject({ state: 'delivered' });
      expect(await world.webhook()).toMatchObject({ status: 'active', url: elsewhere });
      expect(await announced()).toEqual([]);
    }));

  it('of a URL that was replaced meanwhile leaves a resend uncharged', async () => {
    world.answers.push(answer(500));
    await world.step('first');
    const read = world.only();
    await world.resend(read);
    world.during.push(replaceUrl);
    world.answers.push(answer(410));
    await world.step('retry');
    const { nextAttemptAt } = read.wait ?? {};
    expect(world.only()).toMatchObject({ state: 'pending', charged: 1, wait: { nextAttemptAt } });
  });

  it('does not suspend a webhook that was reactivated meanwhile, and is an ordinary failure', async () => {
    world.during.push(async () => {
      await world.register({ status: 'suspended', suspensionReason: 'gone' });
      await world.webhooks.reactivate('conta-1', 'demanda.criada', world.now());
    });
    world.answers.push(answer(410));
    await world.step('first');
    expect(await world.webhook()).toMatchObject({ status: 'active' });
    expect(world.only()).toMatchObject({ state: 'pending', charged: 1 });
  });
});

it('a test that fails after five days of failures suspends nothing', async () => {
  world = makeDeliveryWorld();
  await world.register(failing);
  await world.request('POST', '/v1/webhooks/demanda.criada/teste');
  await world.step('retry');
  world.answers.push(answer(410));
  await world.step('slow');
  expect(world.only()).toMatchObject({ state: 'failed' });
  expect(await world.webhook()).toMatchObject({ status: 'active' });
});
