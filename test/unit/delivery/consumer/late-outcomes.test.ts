import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { answer } from '../builders.ts';

useDeliveryWorld();

let messageId = '';
const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'demand-7' };
beforeEach(() => {
  messageId = world.publish(event);
});

const replace = async (url: string, sealedAuthorization?: string) => {
  const read = await world.webhooks.find('conta-1', 'demanda.criada');
  if (!read) throw new Error('no webhook');
  await world.webhooks.replace(read, { url, sealedAuthorization, updatedAt: world.now() });
};
const elsewhere = 'https://elsewhere.example.com/';

describe('an outcome that comes late', () => {
  it('410 of a registration that was replaced meanwhile: the new one is not suspended, the delivery is cancelled', async () => {
    world.during.push(() => world.register({ webhookId: 'webhook-2' }));
    world.answers.push(answer(410));
    await world.step('first');
    expect(await world.webhook()).toMatchObject({ webhookId: 'webhook-2', status: 'active' });
    await world.settle();
    expect(world.only()).toMatchObject({ state: 'cancelled' });
    expect(world.posts).toHaveLength(1);
  });

  it('410 of the URL that is registered still, in other words and with another credential: suspended', async () => {
    world.during.push(() => replace('https://receiver.example.com:443/hooks', 'sealed'));
    world.answers.push(answer(410));
    await world.step('first');
    expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'gone' });
    expect(world.only()).toMatchObject({ state: 'held' });
  });

  it('410 of a webhook that an operator suspended meanwhile: held, and told of by nobody', async () => {
    world.during.push(() => world.register({ status: 'suspended', suspensionReason: 'operator' }));
    world.answers.push(answer(410));
    await world.step('first');
    expect(world.only()).toMatchObject({ state: 'held' });
    expect(await world.webhook()).toMatchObject({ suspensionReason: 'operator', failingSince: expect.any(Number) });
    expect(world.logged('webhook.suspended')).toBe(0);
  });

  it.each([
    ['a failure', answer(500), {}],
    ['a success', answer(200), { failingSince: 1 }],
  ])('%s of an earlier URL does not touch the health of the webhook', async (_, posted, health) => {
    await world.register(health);
    world.during.push(async () => {
      await replace(elsewhere);
      await world.register({ url: elsewhere, resetAt: world.now(), ...health });
    });
    world.answers.push(posted);
    await world.step('first');
    if (world.posts.length === 0) await world.step('retry'); // first attempts of what keeps failing are made there
    expect(world.posts).toHaveLength(1);
    const { failingSince } = (await world.webhook()) ?? {};
    expect(failingSince).toBe('failingSince' in health ? 1 : undefined);
  });
});

// It was told as one that nobody had registered for.
describe('an event that was POSTed and whose outcome could not be stored before its webhook was deleted', () => {
  const lineOf = (name: string) =>
    world.lines.map(line => JSON.parse(line)).find(([logged]) => logged === name)?.[1] as object | undefined;

  it.each([
    ['a success', answer(200), { result: 'delivered', status: 200 }],
    ['a failure', answer(500), { result: 'http', status: 500 }],
    ['a 410', answer(410), { result: 'http', status: 410 }],
  ])('is logged with %s', async (_, posted, expected) => {
    world.answers.push(posted);
    world.between('PutCommand', async () => {
      await world.remove();
      throw new Error('the store is down');
    });
    await world.step('first');
    expect(world.deferrals()).toEqual(['Error']);
    expect(lineOf('delivery.outcome_not_stored')).toMatchObject({
      ...expected,
      messageId,
      deliveryId: world.posts[0]?.id,
      account: 'conta-1',
      event: 'demanda.criada',
      attempt: 1,
      errorName: 'Error',
    });
  });

  it('is not logged where no attempt was made', async () => {
    await world.register({ status: 'suspended', suspensionReason: 'gone' });
    world.between('PutCommand', () => Promise.reject(new Error('the store is down')));
    await world.step('first');
    expect(world.deferrals()).toEqual(['Error']);
    expect(lineOf('delivery.outcome_not_stored')).toBeUndefined();
  });
});

describe('a message of the retry queue', () => {
  it.each([
    [500, 1],
    [501, 0],
  ])('that comes %i ms early is attempted %i times, since clocks differ', async (early, times) => {
    world.answers.push(answer(500));
    await world.step('first');
    const [message] = world.lose('retries');
    await world.run((world.only().wait?.nextAttemptAt ?? 0) - early);
    world.send('retries', message?.body ?? '');
    await world.step('retry');
    expect(world.posts).toHaveLength(1 + times);
  });

  // Each of three was POSTed, in the same millisecond.
  it('is POSTed once beside those that sweeps sent while its lane stood still for 8 min', async () => {
    world.answers.push(answer(500));
    await world.step('first');
    for (let minute = 0; minute < 8; minute++) {
      await world.pass(60_000);
      await world.sweep();
    }
    expect(world.waiting('retries')).toHaveLength(3);
    await world.stepBatch('retry', 10);
    expect(world.posts).toHaveLength(2);
    expect(world.waiting('retries')).toHaveLength(2); // no copy is acknowledged before there is an outcome
    await world.settle();
    expect(world.posts).toHaveLength(2);
  });

  // Worlds 20149 and 20624 (all): a retry of the deleted delivery made the second attempt before its time.
  it('of an account that was deleted is stale where the publisher sends the event again', async () => {
    world.answers.push(answer(500), answer(500));
    await world.step('first');
    const before = world.only();
    await world.tables.execute(new DeleteCommand({ TableName: 'Deliveries', Key: { id: before?.id, part: 'head' } }));
    await world.pass(before?.wait ? before.wait.nextAttemptAt - world.now() - 1_000 : 0);
    world.publish(event);
    await world.step('first');
    expect(world.only()).toMatchObject({ id: before?.id, attempt: 2 });
    await world.pass(2_000);
    expect(await world.step('retry')).toBe(true);
    expect(world.posts).toHaveLength(2);
    await world.settle();
    expect(world.only()).toMatchObject({ state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
  });
});
