import { beforeEach, describe, expect, it } from 'vitest';
import type { Delivery, WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { makeMoveToSlowLane } from '../../../../lambdas/delivery/isolation/slow-lane.ts';
import { slownessOf } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { frozenClock } from '../../../support/clock.ts';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { casesOf } from '../../../support/sample.ts';
import { aDelivery, answer, fakeTelemetry, noon } from '../builders.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

let world: DeliveryWorld;
const begin = async () => {
  world = makeDeliveryWorld();
  await world.register();
};
beforeEach(begin);

let events = 0;
const publish = () => world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: ++events });
const first = async () => world.deliveries()[0];
const names = () => world.lines.map(line => JSON.parse(line)[0]);
const late = { ...answer(200), takesMs: 3_000 };

/** A retry of a webhook that became slow meanwhile: its message is in the retry queue. */
const failOnce = async () => {
  publish();
  world.answers.push(answer(500));
  await world.step('first');
  await world.slowDown();
  await world.pass(5 * second);
};

describe('a delivery of a slow webhook', () => {
  it('is moved there with the next slot, and may then wait in the slow queue for five minutes', async () => {
    await world.slowDown();
    for (let event = 0; event < 3; event++) {
      publish();
      await world.step('first');
    }
    const now = world.now();
    expect(world.posts).toEqual([]);
    expect(world.waiting('retries')).toEqual([]);
    expect(world.waiting('slow').map(({ visibleAt }) => visibleAt - now)).toEqual([0, second, second]); // whole seconds
    const waits = world.deliveries().map(({ wait }) => wait);
    expect(waits.map(wait => (wait?.nextAttemptAt ?? 0) - now).toSorted((one, other) => one - other)).toEqual([
      0, 250, 500,
    ]);
    for (const wait of waits) {
      expect(wait).toMatchObject({ slowLane: 'queued', sweepAt: (wait?.nextAttemptAt ?? 0) + 5 * minute });
    }
    expect(world.counts).toMatchObject({ MovedToSlowLane: 3 });
  });

  it('is moved by the retry lane as it is, uncharged, and its attempt is made with the whole deadline', async () => {
    await failOnce();
    await world.step('retry');
    expect(world.waiting('slow')).toHaveLength(1);
    expect(await first()).toMatchObject({ attempt: 2, charged: 1, wait: { slowLane: 'queued' } });
    world.answers.push({ ...answer(200), takesMs: 14_000 });
    await world.step('slow');
    expect(await first()).toMatchObject({
      state: 'delivered',
      attempts: [{ result: 'http' }, { result: 'delivered' }],
    });
  });

  it('waits in the table where its slot is too far off: in no queue, uncharged, and not for the sweeper’s own sweep', async () => {
    await world.slowDown();
    await world.takeSlots();
    publish();
    await world.step('first');
    expect([...world.waiting('slow'), ...world.waiting('retries')]).toEqual([]);
    const now = world.now();
    expect(await first()).toMatchObject({ attempt: 1, charged: 0, wait: { slowLane: 'waiting', nextAttemptAt: now } });
    const [item] = world.items().filter(({ id }) => id.startsWith('evt_'));
    expect(item?.dueShard).toMatch(/^backlog#conta-1#demanda\.criada#\d$/);
    expect(await world.slowness()).toMatchObject({ backlogAt: now, waitingAt: now });
    expect(world.counts).toMatchObject({ WaitsForSlot: 1 });
  });

  it('waits behind what waits, though slots are free again', async () => {
    await world.slowDown();
    await world.takeSlots();
    publish();
    await world.step('first');
    await world.pass(89 * second);
    publish();
    await world.step('first');
    expect(world.deliveries().map(({ wait }) => wait?.slowLane)).toEqual(['waiting', 'waiting']);
  });

  it('ends as failed when it is moved ten days after acceptance', async () => {
    await failOnce();
    await world.pass(10 * day);
    await world.step('retry');
    expect(await first()).toMatchObject({ state: 'failed', charged: 1 });
    expect(world.waiting('slow')).toEqual([]);
    expect(world.counts).toMatchObject({ Exhausted: 1 });
    expect(names()).toContain('delivery.too_old');
  });

  it('is overdue for the sweeper after 5 min, then each 30, and sent to the slow queue again', async () => {
    await world.slowDown();
    publish();
    await world.step('first');
    world.lose('slow'); // its message is lost
    const times: number[] = [];
    for (let passed = 0; passed <= 100; passed++) {
      await world.sweep();
      expect(world.waiting('retries')).toEqual([]);
      if (world.lose('slow').length > 0) times.push(passed);
      await world.pass(minute);
    }
    expect(times).toEqual([5, 35, 65, 95]);
  });

  it('is found by the sweeper after 5 min where its process died before it sent the message', async () => {
    await world.slowDown();
    publish();
    await world.step('first', { afterCalls: 3, hasEffect: false }); // its slot and mark are stored
    expect(world.waiting('slow')).toEqual([]);
    expect(await first()).toMatchObject({ wait: { overdueCount: 0 } });
    await world.pass(4 * minute);
    await world.sweep();
    expect(world.waiting('slow')).toEqual([]);
    await world.pass(minute);
    await world.sweep();
    expect(world.waiting('slow')).toHaveLength(1);
  });
});

// The answer of the table was lost, and the message with it: 50 of 320 waited for half an hour.
describe('a message that moved its delivery to the slow queue and is handed over again', () => {
  /** Has its visibility timeout end, and the table answer again. */
  const comeBack = async () => {
    world.losing.length = 0;
    await world.pass(181 * second);
  };
  /** For longer than a process repeats its writes, the table takes them and no answer comes. */
  const loseAnswers = () => world.losing.push(...Array<string>(20).fill('PutCommand'));
  const giveUp = async (deliver: () => Promise<unknown>) => {
    publish();
    world.answers.push(late);
    await deliver();
  };
  const moves: readonly [string, () => Promise<void>, 'first' | 'retry'][] = [
    [
      'an event',
      async () => {
        await world.slowDown();
        publish();
      },
      'first',
    ],
    ['a retry', failOnce, 'retry'],
  ];

  it.each(moves)(
    'sends what is missing, each time, where the process died or its answer was lost: %s',
    async (_, prepare, lane) => {
      await prepare();
      await world.step(lane, undefined, true);
      world.lose('slow');
      for (let again = 0; again < 2; again++) {
        await comeBack();
        await world.step(lane, undefined, again === 0);
        expect(world.lose('slow')).toHaveLength(1);
      }
      expect(world.counts.StaleDropped ?? 0).toBe(0);
      expect(names().filter(name => name === 'delivery.sent_again')).toHaveLength(2);
    },
  );

  it('is sent at once where one answer of the table was lost: the write is repeated', async () => {
    await world.slowDown();
    publish();
    world.losing.push('PutCommand');
    await world.step('first');
    expect(world.deferrals()).toEqual([]);
    expect(world.waiting('slow')).toHaveLength(1);
  });

  it('sends it where the answer of the table was lost', async () => {
    await world.slowDown();
    publish();
    loseAnswers();
    await world.step('first');
    expect(world.deferrals()).toEqual(['TimeoutError']);
    expect(await first()).toMatchObject({ wait: { slowLane: 'queued' } });
    expect(world.waiting('slow')).toEqual([]);
    await comeBack();
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
    await world.settle();
    expect(world.posts).toHaveLength(1);
  });

  it('is not acknowledged before the queue has taken it', async () => {
    await world.slowDown();
    publish();
    await world.step('first', undefined, true);
    world.lose('slow');
    await comeBack();
    world.between('SendMessageCommand', () => Promise.reject(new Error('the queue is down')));
    await world.step('first');
    expect(world.deferrals()).toEqual(['Error']);
    expect(world.waiting('slow')).toEqual([]);
    await comeBack();
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
  });

  it.each([
    ['the event’s own', 'first'],
    ['a retry’s', 'retry'],
  ] as const)('sends it after an attempt that was given up, by %s', async (_, lane) => {
    if (lane === 'retry') {
      publish();
      world.answers.push(answer(500));
      await world.step('first');
      await world.pass(5 * second);
      world.send('retries', world.waiting('retries')[0]?.body ?? ''); // somebody waits behind it
    }
    await giveUp(() => {
      if (lane === 'first') publish();
      loseAnswers();
      return world.step(lane);
    });
    expect(world.deferrals()).toEqual(['TimeoutError']);
    expect(world.waiting('slow')).toEqual([]);
    await comeBack();
    for (let message = 0; message < 3 && world.waiting('slow').length === 0; message++) await world.step(lane);
    expect(world.waiting('slow')).toHaveLength(1);
  });

  it('sends nothing once a sweep has claimed the delivery', async () => {
    await world.slowDown();
    publish();
    await world.step('first', undefined, true);
    await world.pass(5 * minute);
    await world.sweep();
    expect(world.lose('slow')).toHaveLength(2);
    await world.step('first');
    expect(world.waiting('slow')).toEqual([]);
    expect(world.counts).toMatchObject({ DuplicateDropped: 1 });
  });

  it('sends nothing where another message brought it there', async () => {
    await world.slowDown();
    for (let copy = 0; copy < 2; copy++)
      world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'one' });
    await world.step('first');
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
    expect(world.counts).toMatchObject({ DuplicateDropped: 1 });
  });

  it('sends nothing where the event’s own message came first, and a retry moved it later', async () => {
    publish();
    world.answers.push(answer(500));
    await world.step('first', undefined, true);
    await world.slowDown();
    await world.pass(5 * second);
    await world.step('retry');
    expect(world.waiting('slow')).toHaveLength(1);
    await comeBack();
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
    expect(world.counts).toMatchObject({ DuplicateDropped: 1 });
  });

  it('sends nothing where the sweeper gave it its slot', async () => {
    await world.slowDown();
    await world.takeSlots();
    publish();
    await world.step('first', undefined, true);
    await world.pass(90 * second);
    await world.sweep();
    expect(world.waiting('slow')).toHaveLength(1);
    await comeBack();
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
  });
});

describe('the move to the slow lane', () => {
  const waiting: WaitingDelivery = {
    ...aDelivery({ attempt: 2 }),
    wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 },
  };
  const moving = ({ isQueueDown = false, isStoreDown = false, isStale = false } = {}) => {
    const did: string[] = [];
    const telemetry = fakeTelemetry();
    let saved: Delivery | undefined;
    const move = makeMoveToSlowLane({
      ...telemetry,
      lane: 'first',
      waitInTable: async () => undefined,
      reserveSlot: async () => ({ at: noon + 250, series: 0 }),
      store: {
        read: async () => (saved ? [saved] : []),
        update: async (_, { wait }) => {
          did.push(`mark for ${((wait?.sweepAt ?? 0) - noon - 250) / minute} min`);
          if (isStoreDown) throw new Error('the store is down');
          return true;
        },
      },
      slowQueue: {
        send: async ({ wait }) => {
          did.push(`send for ${wait.nextAttemptAt - noon}`);
          if (isQueueDown) throw new Error('the queue is down');
        },
      },
      now: frozenClock().now,
    });
    const slowness = slownessOf({ accountId: 'conta-1', eventName: 'demanda.criada' }, undefined);
    const save = async (delivery: Delivery) => {
      const { wait } = delivery;
      saved = delivery;
      did.push(`save for ${((wait?.sweepAt ?? 0) - noon - 250) / minute} min`);
      return !isStale;
    };
    return { move: (delivery: Delivery) => move(delivery, slowness, save), did, ...telemetry };
  };

  it('stores what is not stored yet by one write, and sends its message', async () => {
    const { move, did } = moving();
    await move(aDelivery());
    expect(did).toEqual(['save for 5 min', 'send for 250']);
  });

  it('sends the message of what is stored already, and then records where that is', async () => {
    const { move, did } = moving();
    await move(waiting);
    expect(did).toEqual(['send for 250', 'mark for 5 min']);
  });

  it('sends nothing where a copy was stored first', async () => {
    const { move, did, counts } = moving({ isStale: true });
    await move(aDelivery());
    expect(did).toEqual(['save for 5 min']);
    expect(counts).toEqual({ StaleDropped: 1 });
  });

  it('leaves to the sweeper what is stored and could not be sent, after 2 min and not after 5', async () => {
    const { move, did, counts } = moving({ isQueueDown: true });
    await move(aDelivery());
    expect(did).toEqual(['save for 5 min', 'send for 250', 'mark for 2 min']);
    expect(counts).toEqual({ AttemptNotSent: 1 });
  });

  it('throws nothing where neither the queue nor the store answers: the sweeper is late then', async () => {
    const { move, lines } = moving({ isQueueDown: true, isStoreDown: true });
    await move(aDelivery());
    expect(lines.join()).toContain('delivery.not_marked');
  });

  it('lets a retry’s message come back where it could not be sent on', async () => {
    await expect(moving({ isQueueDown: true }).move(waiting)).rejects.toThrow('the queue is down');
  });

  it('is done where the message is sent, though that could not be recorded', async () => {
    const { move, counts, lines } = moving({ isStoreDown: true });
    await move(waiting);
    expect(counts).toEqual({ MovedToSlowLane: 1 });
    expect(lines.join()).toContain('delivery.not_marked');
  });
});

describe('an attempt that is slow while messages wait in its lane’s queue', () => {
  it('is given up, uncharged, and made again at once in the slow lane with the whole deadline', async () => {
    publish();
    publish();
    world.answers.push(late, late);
    await world.step('first');
    const given = world.deliveries()[0];
    expect(given).toMatchObject({
      state: 'pending',
      attempt: 2,
      charged: 0,
      internalErrors: 0,
      attempts: [{ result: 'slow' }],
    });
    expect(world.waiting('slow')).toHaveLength(1);
    expect(world.waiting('slow')[0]?.visibleAt).toBe(world.now());
    expect(await world.webhook()).not.toHaveProperty('failingSince');
    await world.step('slow');
    expect(world.deliveries()).toMatchObject([
      {
        state: 'delivered',
        attempts: [
          { number: 1, result: 'slow' },
          { number: 2, result: 'delivered' },
        ],
      },
    ]);
    expect(new Set(world.posts.map(({ id }) => id)).size).toBe(1);
    expect(world.counts).toMatchObject({ GivenUp: 1, Delivered: 1 });
  });

  it('ends no failure either', async () => {
    await world.register({ failingSince: world.now() - 1 });
    publish();
    publish();
    world.answers.push(late);
    await world.step('first');
    expect(await world.webhook()).toHaveProperty('failingSince');
  });

  it('is made once where nobody waits: a receiver that starts slowly on a quiet day gets no event twice', async () => {
    publish();
    world.answers.push(late);
    await world.step('first');
    await world.settle();
    expect(world.posts).toHaveLength(1);
    expect(await first()).toMatchObject({ state: 'delivered', attempts: [{ result: 'delivered' }] });
    expect((await world.slowness())?.slowSince).toBeUndefined();
  });
});

describe('a process that dies at any step during the move to the slow lane', () => {
  const everyStep = Array.from({ length: 11 }, (_, afterCalls) =>
    [false, true].map(hasEffect => ({ afterCalls, hasEffect })),
  ).flat();
  const crashes = casesOf(everyStep, 3);
  const cases = [
    ['a first attempt, with a slot', async () => void publish(), 'first', false],
    ['a first attempt, into the table', async () => void publish(), 'first', true],
    ['a retry, with a slot', failOnce, 'retry', false],
    ['a retry, into the table', failOnce, 'retry', true],
  ] as const;

  it.each(cases)(
    'loses nothing: %s',
    async (_, prepare, lane, areSlotsTaken) => {
      for (const crash of crashes) {
        await begin();
        await prepare();
        await world.slowDown();
        if (areSlotsTaken) await world.takeSlots();
        const before = world.posts.length;
        await world.step(lane, crash);
        await world.settle();
        const after = await first();
        expect(after?.state).toBe('delivered');
        expect(world.posts.length - before).toBe(1);
      }
    },
    30_000,
  );

  it('loses nothing: an attempt that was given up', async () => {
    for (const crash of crashes) {
      await begin();
      publish();
      publish();
      world.answers.push(late);
      await world.step('first', crash);
      await world.settle();
      expect(world.deliveries().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
      expect(world.posts.length).toBeLessThanOrEqual(4);
    }
  }, 30_000);
});
