import { describe, expect, it } from 'vitest';
import { everyCrash } from '../../../support/delivery-world/every-crash.ts';
import { beginWorld, useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { answer, noon } from '../builders.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

useDeliveryWorld();

const names = () => world.lines.map(line => JSON.parse(line)[0]);
/** The notices that operators get after a sweep. */
const announced = async () => {
  await world.sweep();
  return world.announced.map(({ type, lastResult, deliveryId }) => ({ type, lastResult, deliveryId }));
};
const late = { ...answer(200), takesMs: 3_000 };

/** Has an event of a slow webhook moved to the slow lane, by its own message, which may come again. */
const move = async (isTwice = false) => {
  await world.slowDown();
  world.publishEvent();
  await world.step('first', undefined, isTwice);
};

/** Has one wait in the table: all slots of the next 90 s are taken. */
const waitInTable = async (isTwice = false) => {
  await world.slowDown();
  await world.takeSlots();
  world.publishEvent();
  await world.step('first', undefined, isTwice);
};

/** A retry of a webhook that became slow meanwhile: its message is in the retry queue. */
const failOnce = async () => {
  world.publishEvent();
  world.answers.push(answer(500));
  await world.step('first');
  await world.slowDown();
  await world.pass(5 * second);
};

describe('a delivery of a slow webhook', () => {
  it('is moved there with the next slot, and may then wait in the slow queue for five minutes', async () => {
    await world.slowDown();
    for (let event = 0; event < 3; event++) {
      world.publishEvent();
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
    expect(world.only()).toMatchObject({ attempt: 2, charged: 1, wait: { slowLane: 'queued' } });
    world.answers.push({ ...answer(200), takesMs: 14_000 });
    await world.step('slow');
    expect(world.only()).toMatchObject({
      state: 'delivered',
      attempts: [{ result: 'http' }, { result: 'delivered' }],
    });
  });

  it('waits in the table where its slot is too far off: in no queue, uncharged, and not for the sweeper’s own sweep', async () => {
    await waitInTable();
    expect([...world.waiting('slow'), ...world.waiting('retries')]).toEqual([]);
    const now = world.now();
    expect(world.only()).toMatchObject({ attempt: 1, charged: 0, wait: { slowLane: 'waiting', nextAttemptAt: now } });
    const [item] = world.items().filter(({ id }) => id.startsWith('evt_'));
    expect(item?.dueShard).toMatch(/^backlog#conta-1#demanda\.criada#\d$/);
    expect(await world.slowness()).toMatchObject({ backlogAt: now, waitingAt: now });
    expect(world.counts).toMatchObject({ WaitsForSlot: 1 });
  });

  it('waits behind what waits, though slots are free again', async () => {
    await waitInTable();
    await world.pass(89 * second);
    world.publishEvent();
    await world.step('first');
    expect(world.deliveries().map(({ wait }) => wait?.slowLane)).toEqual(['waiting', 'waiting']);
  });

  // It came back behind all that had waited for a shorter time.
  it('keeps its turn where it was released and its webhook is slow again', async () => {
    await waitInTable();
    await world.pass(minute);
    await world.speedUp();
    await world.sweep();
    await world.slowDown();
    await world.takeSlots();
    await world.step('retry');
    expect(world.only().wait).toMatchObject({ slowLane: 'waiting', nextAttemptAt: noon });
  });

  it('ends as failed when it is moved ten days after acceptance', async () => {
    await failOnce();
    await world.pass(10 * day);
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'failed', charged: 1 });
    expect(await announced()).toEqual([{ type: 'webhook.suspended', lastResult: 'http', deliveryId: world.only().id }]);
    expect(world.waiting('slow')).toEqual([]);
    expect(world.counts).toMatchObject({ Exhausted: 1 });
    expect(names()).toContain('delivery.too_old');
  });

  it('is overdue for the sweeper after 5 min, then each 30, and sent to the slow queue again', async () => {
    await move();
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
    world.publishEvent();
    world.answers.push(late);
    await deliver();
  };
  const moves: readonly [string, () => Promise<void>, 'first' | 'retry'][] = [
    [
      'an event',
      async () => {
        await world.slowDown();
        world.publishEvent();
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

  it('is not acknowledged before the queue has taken it', async () => {
    await move(true);
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
      world.publishEvent();
      world.answers.push(answer(500));
      await world.step('first');
      await world.pass(5 * second);
      world.send('retries', world.waiting('retries')[0]?.body ?? ''); // somebody waits behind it
    }
    await giveUp(() => {
      if (lane === 'first') world.publishEvent();
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
    await move(true);
    await world.pass(5 * minute);
    await world.sweep();
    expect(world.lose('slow')).toHaveLength(2);
    await world.step('first');
    expect(world.waiting('slow')).toEqual([]);
    expect(world.counts).toMatchObject({ DuplicateDropped: 1 });
  });

  it('sends nothing where another message brought it there', async () => {
    await world.slowDown();
    for (let copy = 0; copy < 2; copy++) world.publishEvent({ id: 'one' });
    await world.step('first');
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
    expect(world.counts).toMatchObject({ DuplicateDropped: 1 });
  });

  // Three messages of one retry, whose lane had stood still, came to three POSTs in the same moment.
  it.each([
    ['is moved', failOnce],
    [
      'is given up',
      async () => {
        world.publishEvent();
        world.answers.push(answer(500), late);
        await world.step('first');
        await world.pass(5 * second);
      },
    ],
  ])('sends nothing where the sweeper’s copies come of a retry that %s', async (_, prepare) => {
    await prepare();
    for (let copy = 0; copy < 2; copy++) world.send('retries', world.waiting('retries')[0]?.body ?? '');
    for (let message = 0; message < 3; message++) await world.step('retry');
    expect(world.waiting('slow')).toHaveLength(1);
    expect(world.counts).toMatchObject({ StaleDropped: 2 });
  });

  it('sends nothing where the event’s own message came first, and a retry moved it later', async () => {
    world.publishEvent();
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
    await waitInTable(true);
    await world.pass(90 * second);
    await world.sweep();
    expect(world.waiting('slow')).toHaveLength(1);
    await comeBack();
    await world.step('first');
    expect(world.waiting('slow')).toHaveLength(1);
  });
});

describe('a move to the slow lane whose message the queue does not take', () => {
  const isDown = () => Promise.reject(new Error('the queue is down'));

  it('is left to the sweeper where it is stored already, after 2 min and not after 5', async () => {
    world.between('SendMessageCommand', isDown);
    await move();
    expect(world.deferrals()).toEqual([]);
    expect(world.counts).toMatchObject({ AttemptNotSent: 1 });
    expect(world.only().wait).toMatchObject({ sweepAt: world.now() + 2 * minute });
    await world.settle();
    expect(world.posts).toMatchObject([{ lane: 'slow', at: noon + 2 * minute }]);
  });

  it.each(['BatchGetCommand', 'PutCommand'])(
    'throws nothing where the store does not answer a %s either: the sweeper is late then',
    async command => {
      world.between('SendMessageCommand', async () => {
        world.between(command, () => Promise.reject(new Error('the store is down')));
        return isDown();
      });
      await move();
      expect(world.deferrals()).toEqual([]);
      expect(names()).toContain('delivery.not_marked');
      await world.settle();
      expect(world.posts).toMatchObject([{ lane: 'slow', at: noon + 5 * minute }]);
    },
  );

  it('comes again by the message of a retry, which is not acknowledged', async () => {
    await failOnce();
    world.between('SendMessageCommand', isDown);
    await world.step('retry');
    expect(world.deferrals()).toEqual(['Error']);
    await world.settle();
    expect(world.only()).toMatchObject({ state: 'delivered' });
  });
});

it('a retry whose message is sent to the slow lane is done with, though that could not be recorded', async () => {
  await failOnce();
  world.between('SendMessageCommand', async () => {
    world.between('PutCommand', () => Promise.reject(new Error('the store is down')));
  });
  await world.step('retry');
  expect(world.deferrals()).toEqual([]);
  expect(world.counts).toMatchObject({ MovedToSlowLane: 1 });
  expect(names()).toContain('delivery.not_marked');
});

describe('a delivery whose slot counts no more', () => {
  /** One that has a slot in half a minute, of a webhook that is found to hang meanwhile: the next slot is ten seconds off then. */
  const waitForOldSlot = async () => {
    await world.slowDown();
    await world.measureAnswer(2_500);
    await world.reserveSlots(600);
    world.publishEvent();
    await world.step('first');
    await world.measureAnswer(15_000);
    await world.reserveSlots(40);
    await world.pass(30 * second);
    await world.reserveSlots(40);
  };

  it('is stored with another before its message is hidden, and is attempted then', async () => {
    await waitForOldSlot();
    const slot = world.now() + 10 * second;
    await world.step('slow');
    expect(world.posts).toEqual([]);
    expect(world.waiting('slow')).toMatchObject([{ visibleAt: slot }]);
    expect(world.only().wait).toMatchObject({ nextAttemptAt: slot, slowLane: 'queued', overdueCount: 0, turnAt: noon });
    expect(world.only().wait?.sweepAt).toBeGreaterThan(slot + minute);
    expect(await world.slowness()).toMatchObject({ nextSlotAt: slot + 250 });
    expect(names()).toContain('delivery.slot_moved');
    await world.run(slot);
    await world.step('slow');
    expect(world.posts).toMatchObject([{ at: slot, lane: 'slow' }]);
  });

  // Both came back in the same second, and two processes POSTed it in the same moment.
  it('keeps that one where a copy of its message comes, which waits until an attempt in it is over', async () => {
    await waitForOldSlot();
    const slot = world.now() + 10 * second;
    world.send('slow', world.waiting('slow')[0]?.body ?? '');
    await world.step('slow');
    await world.pass(second);
    await world.step('slow');
    expect(world.waiting('slow')).toMatchObject([{ visibleAt: slot }, { visibleAt: slot + 25 * second }]);
    expect(await world.slowness()).toMatchObject({ nextSlotAt: slot + 250 });
    await world.run(slot + second);
    world.answers.push({ ...answer(500), takesMs: 14 * second });
    await Promise.all([world.step('slow'), world.step('slow')]);
    expect(world.posts).toMatchObject([{ at: slot + second, lane: 'slow' }]);
    await world.run(slot + 25 * second);
    await world.step('slow');
    expect(world.counts).toMatchObject({ StaleDropped: 1 });
    expect(world.posts).toHaveLength(1);
  });

  it('takes another by a message that comes before that one, where it turns out to be the only one', async () => {
    await waitForOldSlot();
    const slot = world.now() + 10 * second;
    await world.step('slow');
    const [message] = world.lose('slow');
    world.send('slow', message?.body ?? '');
    await world.step('slow');
    await world.settle();
    expect(world.posts).toMatchObject([{ at: slot + 25 * second, lane: 'slow' }]);
    expect(names().filter(name => name === 'delivery.overdue')).toEqual([]);
  });

  // What had waited in the table for long seemed to have missed it.
  it('keeps the slot that the sweeper gave it, where its message comes before that is stored', async () => {
    await waitInTable();
    await world.pass(90 * second);
    world.between('PutCommand', async () => {
      await world.reserveSlots(40);
      await world.step('slow');
    });
    await world.sweep();
    expect(world.posts).toMatchObject([{ at: noon + 90 * second, lane: 'slow' }]);
    await world.settle();
    expect(world.posts).toHaveLength(1);
  });

  it('waits in the table, in its turn, where the next is over a minute off', async () => {
    await waitForOldSlot();
    await world.reserveSlots(210);
    await world.step('slow');
    expect(world.only().wait).toMatchObject({ slowLane: 'waiting', nextAttemptAt: noon });
    expect(await world.slowness()).toHaveProperty('backlogAt');
    expect(world.waiting('slow')).toEqual([]);
  });

  it('waits there, too, where its message came four times before', async () => {
    await waitForOldSlot();
    for (let receive = 0; receive < 4; receive++) {
      await world.step('slow', { afterCalls: 0, hasEffect: false });
      await world.pass(181 * second);
    }
    await world.step('slow');
    expect(world.only().wait).toMatchObject({ slowLane: 'waiting', nextAttemptAt: noon });
  });

  // All were attempted in the same moment, however many.
  it('takes another where its lane stood still: those of five seconds and of the present moment come together', async () => {
    await world.slowDown();
    for (let event = 0; event < 60; event++) world.publishEvent();
    while (await world.stepBatch('first', 10));
    await world.pass(15 * second);
    const resumed = world.now();
    world.answers.push(...Array(60).fill({ ...answer(200), takesMs: 14 * second }));
    await world.stepBatch('slow', 60);
    expect(world.posts.map(({ at }) => at)).toEqual(Array(5 * 4 + 3).fill(resumed));
    expect(world.waiting('slow').at(-1)?.visibleAt).toBe(resumed + 10 * second);
    await world.settle();
    expect(world.posts).toHaveLength(60);
  });

  it('is attempted at once where the webhook is quick again', async () => {
    await waitForOldSlot();
    await world.speedUp();
    await world.step('slow');
    expect(world.posts).toMatchObject([{ lane: 'slow' }]);
  });

  it('is attempted at once where a resend brought it forward', async () => {
    await waitForOldSlot();
    await world.resend(world.only(), second);
    await world.step('retry');
    while (await world.step('slow'));
    expect(world.posts).toMatchObject([{ at: world.now(), lane: 'slow' }]);
  });

  it.each([
    ['a resend', () => world.resend(world.only(), second)],
    ['a test', () => world.request('POST', '/v1/webhooks/demanda.criada/teste')],
  ])('takes none as %s, which comes beside the slots', async (_, ask) => {
    await world.slowDown();
    await world.measureAnswer(2_500);
    await world.reserveSlots(600);
    world.publishEvent();
    await world.step('first');
    await ask();
    await world.step('retry');
    await world.measureAnswer(15_000);
    await world.reserveSlots(40); // the pace is another: what had a slot takes the next, ten seconds off
    await world.step('slow');
    expect(world.posts).toMatchObject([{ at: noon, lane: 'slow' }]);
  });

  it('ends as failed ten days after acceptance', async () => {
    await world.register({ failingSince: noon });
    await waitForOldSlot();
    await world.pass(10 * day);
    await world.step('slow');
    expect(world.only()).toMatchObject({ state: 'failed', charged: 0 });
    expect(await announced()).toEqual([{ type: 'webhook.suspended', lastResult: null, deliveryId: world.only().id }]);
    expect(world.posts).toEqual([]);
    expect(names()).toContain('delivery.too_old');
  });
});

describe('an attempt that is slow while messages wait in its lane’s queue', () => {
  it('is given up, uncharged, and made again at once in the slow lane with the whole deadline', async () => {
    world.publishEvent();
    world.publishEvent();
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

  it('is made once where nobody waits: a receiver that starts slowly on a quiet day gets no event twice', async () => {
    world.publishEvent();
    world.answers.push(late);
    await world.step('first');
    await world.settle();
    expect(world.posts).toHaveLength(1);
    expect(world.only()).toMatchObject({ state: 'delivered', attempts: [{ result: 'delivered' }] });
    expect((await world.slowness())?.slowSince).toBeUndefined();
  });
});

describe('a process that dies at any step during the move to the slow lane', () => {
  const cases = [
    ['a first attempt, with a slot', async () => void world.publishEvent(), 'first', false],
    ['a first attempt, into the table', async () => void world.publishEvent(), 'first', true],
    ['a retry, with a slot', failOnce, 'retry', false],
    ['a retry, into the table', failOnce, 'retry', true],
  ] as const;

  it.each(cases)(
    'loses nothing: %s',
    (_, prepare, lane, areSlotsTaken) =>
      everyCrash(async crash => {
        await beginWorld();
        await prepare();
        await world.slowDown();
        if (areSlotsTaken) await world.takeSlots();
        const before = world.posts.length;
        await world.step(lane, crash);
        await world.settle();
        expect(world.only().state).toBe('delivered');
        expect(world.posts.length - before).toBe(1);
      }),
    30_000,
  );

  it(
    'loses nothing: an attempt that was given up',
    () =>
      everyCrash(async crash => {
        await beginWorld();
        world.publishEvent();
        world.publishEvent();
        world.answers.push(late);
        await world.step('first', crash);
        await world.settle();
        expect(world.deliveries().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
        expect(world.posts.length).toBeLessThanOrEqual(4);
      }),
    30_000,
  );
});
