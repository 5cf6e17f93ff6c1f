import { beforeEach, describe, expect, it } from 'vitest';
import type { Delivery, WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { slownessId } from '../../../../lambdas/delivery/isolation/slow-since.ts';
import {
  nextSlots,
  recovered,
  slotInterval,
  unknownSlowness,
  withDuration,
  withSlowDns,
} from '../../../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore, slownessOf } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { dueShards, taskShard } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { type DeliveryStore, makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { endTooOld } from '../../../../lambdas/delivery/store/end-unattempted.ts';
import {
  makeSlowBacklogTask,
  planOf,
  type SlowBacklogDependencies,
} from '../../../../lambdas/delivery/sweeper/slow-backlog.ts';
import { waitingForSlot } from '../../../../lambdas/delivery/transitions.ts';
import type { Webhook } from '../../../../lambdas/webhooks/webhook.ts';
import { frozenClock } from '../../../support/clock.ts';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { everyCrash } from '../../../support/delivery-world/every-crash.ts';
import { aDelivery, answer, aWebhook, fakeTelemetry, noon } from '../builders.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

describe('planOf', () => {
  const quick = slownessOf({ accountId: 'conta-1', eventName: 'demanda.criada' }, undefined);
  const slow = { ...quick, ...withSlowDns(unknownSlowness, noon) };

  it.each([
    [
      'four a second for 75 s, until it is known not to hang',
      slow,
      { to: 'slow', beginAt: noon, interval: 250, most: 300 },
    ],
    [
      'twenty a second where it answers in three',
      { ...slow, longestAttempt: 3_000 },
      { to: 'slow', beginAt: noon, interval: 50, most: 1_500 },
    ],
    [
      'what is not taken yet',
      { ...slow, nextSlotAt: noon + 70 * second },
      { to: 'slow', beginAt: noon + 70 * second, interval: 250, most: 20 },
    ],
    [
      'nothing where all is taken',
      { ...slow, nextSlotAt: noon + 80 * second },
      { to: 'slow', beginAt: noon + 80 * second, interval: 250, most: 0 },
    ],
    [
      'four a second from now on where those that are taken are of a quicker pace',
      { ...slow, nextSlotAt: noon + 80 * second, slotSeries: 3, seriesInterval: 50 },
      { to: 'slow', beginAt: noon, interval: 250, most: 300, slots: { slotSeries: 4, seriesInterval: 250 } },
    ],
    [
      'a hundred a second of a webhook that is quick again',
      { ...quick, nextSlotAt: noon + day },
      { to: 'retry', beginAt: noon, interval: 10, most: 6_000 },
    ],
  ])('is %s', (_, slowness, plan) => {
    expect(planOf(slowness, 20, noon)).toMatchObject(plan);
  });
});

describe('the sweeper’s task for a slow webhook', () => {
  const clock = frozenClock();
  let accounts = 0;
  let owner: { accountId: string; eventName: 'demanda.criada' };
  let sent: { to: string; delivery: WaitingDelivery; stored: Delivery | undefined }[];
  let refused: number;
  /** The times that a delivery that had ended was asked whether it suspends the webhook. */
  let lookedAt: number;
  let webhook: Webhook | undefined;
  /** The lateness that the last run found. */
  let lateness: number | undefined;
  let telemetry: ReturnType<typeof fakeTelemetry>;
  beforeEach(() => {
    clock.set(noon);
    owner = { accountId: `backlog-${++accounts}`, eventName: 'demanda.criada' };
    sent = [];
    refused = 0;
    lookedAt = 0;
    webhook = aWebhook(owner);
    telemetry = fakeTelemetry();
  });

  const { now } = clock;
  const { dynamo } = makeDeliveryWorld();
  const store = () => makeDeliveryStore({ ...clock.time, dynamo, table: 'Deliveries' });
  const slownessStore = () => makeSlownessStore({ dynamo, table: 'Deliveries', now, rate: 20 });
  const slowness = () => slownessStore().change(owner, () => undefined);
  const takeAllUntil = async (nextSlotAt: number) => {
    const known = await slowness();
    const { after } = nextSlots(known, slotInterval(known, 20), now());
    expect(await slownessStore().reserveUntil(known, { ...after, nextSlotAt })).toBe(true);
  };
  const queue = (to: string) => ({
    sendAll: async (deliveries: readonly WaitingDelivery[]) => {
      const stored = await store().read(deliveries.map(({ id }) => id));
      for (const delivery of deliveries)
        sent.push({ to, delivery, stored: stored.find(({ id }) => id === delivery.id) });
      return deliveries.slice(0, refused);
    },
  });
  const makeTask = (changes: Partial<SlowBacklogDependencies> = {}) =>
    makeSlowBacklogTask({
      ...telemetry,
      slownessStore: slownessStore(),
      store: store(),
      queues: { retry: queue('retry'), slow: queue('slow') },
      findWebhook: async () => webhook,
      health: { suspendAfterEnd: async () => void lookedAt++ },
      slowRate: 20,
      now,
      ...changes,
    });
  /** Runs the task, where it is due. */
  const sweep = async (changes?: Partial<SlowBacklogDependencies>, hasTime = () => true) => {
    const entries = (await Promise.all([taskShard, ...dueShards].map(shard => store().due(shard)))).flat();
    const entry = entries.find(({ id }) => id === slownessId(owner));
    lateness = entry && (await makeTask(changes)(entry, hasTime));
    return entry !== undefined;
  };
  const idOf = (number: number) => `evt_${owner.accountId}_${String(number).padStart(4, '0')}`;
  /** Deliveries that wait for a slot, each due a millisecond before the one of the number before it. */
  const wait = async (count: number, changes: Partial<Delivery> = {}, due = noon) => {
    await slownessStore().beginWaiting(await slowness());
    const deliveries = Array.from({ length: count }, (_, number) =>
      waitingForSlot(aDelivery({ ...owner, id: idOf(number), ...changes }), due - number),
    );
    for (let from = 0; from < count; from += 50) {
      await Promise.all(deliveries.slice(from, from + 50).map(delivery => store().create(delivery)));
    }
    return deliveries.map(({ id }) => id);
  };
  const slowDown = () => slownessStore().change(owner, before => withSlowDns(before, noon));
  /** The same of a webhook that is slow. */
  const waitSlow = async (...all: Parameters<typeof wait>) => {
    await slowDown();
    return wait(...all);
  };
  const speedUp = () => slownessStore().change(owner, before => recovered(before, noon));
  const readAll = (ids: readonly string[]) => store().read(ids);
  /** Where deliveries of the slow lane wait. */
  const placesOf = async (ids: readonly string[]) => (await readAll(ids)).map(({ wait }) => wait?.slowLane);
  /** The moments of all attempts that were handed over, in order. */
  const slots = () => sent.map(({ delivery }) => delivery.wait.nextAttemptAt).toSorted((one, other) => one - other);

  it('gives slots to the longest due, spaced by the interval, and stores that they are in the slow queue', async () => {
    const ids = await waitSlow(25);
    await sweep();
    expect(sent.every(({ to }) => to === 'slow')).toBe(true);
    const given = new Map(sent.map(({ delivery }) => [delivery.id, delivery.wait.nextAttemptAt - noon]));
    expect(ids.toReversed().map(id => given.get(id))).toEqual(ids.map((_, at) => at * 250));
    expect(sent.map(({ stored }) => stored?.wait?.slowLane)).toEqual(ids.map(() => 'waiting')); // stored after it is sent
    for (const { wait } of await readAll(ids)) expect(wait).toMatchObject({ slowLane: 'queued', overdueCount: 0 });
    expect(await slowness()).toMatchObject({ nextSlotAt: noon + 25 * 250 });
    expect(telemetry.counts).toEqual({ MovedToSlowLane: 25 });
  });

  it('finds late what no run gives a slot: since the last slot was over, or since any was given', async () => {
    const stuck = { slownessStore: { ...slownessStore(), reserveUntil: async () => false } };
    await waitSlow(350);
    await sweep(); // gives 300 of 75 s
    expect(lateness).toBeUndefined(); // of an item that lacked the moment
    clock.advance(minute);
    await sweep(stuck);
    expect(lateness).toBe(-15 * second);
    clock.advance(6 * minute);
    await sweep(stuck);
    expect(lateness).toBe(5 * minute + 45 * second);
    clock.advance(minute);
    await sweep();
    expect(lateness).toBe(6 * minute + 45 * second); // until now
    clock.advance(minute);
    await sweep();
    expect(lateness).toBeUndefined(); // nothing waits
  });

  it('finds late nothing that began to wait long after the last slot was given', async () => {
    await waitSlow(1);
    await sweep();
    clock.advance(60 * minute);
    await slownessStore().beginWaiting(await slowness());
    await store().create(waitingForSlot(aDelivery({ ...owner, id: idOf(7) }), now()));
    clock.advance(minute);
    await sweep();
    expect(lateness).toBe(minute);
  });

  // A receiver that answered in 2.5 s and then hangs: what had slots gets new ones, further apart.
  it('finds late nothing while the slots that others were given reach far ahead', async () => {
    await waitSlow(3);
    const read = await slowness();
    await slownessStore().reserveUntil(read, { ...read, nextSlotAt: noon + 7 * minute });
    for (let passed = 0; passed <= 7; passed++) {
      await sweep();
      expect(lateness ?? 0).toBeLessThanOrEqual(0);
      clock.advance(minute);
    }
    expect(sent).toHaveLength(3);
  });

  it('finds late nothing that waits for its release while others are released', async () => {
    await waitSlow(100);
    await speedUp();
    for (let passed = 0; passed < 10; passed++) {
      let asked = 0;
      await sweep(undefined, () => asked++ < 3); // time for a part of them
      expect(lateness ?? 0).toBeLessThanOrEqual(minute);
      clock.advance(minute);
    }
    expect(sent).toHaveLength(100);
  });

  it('gives no slots beyond the next sweep, which gives the rest', async () => {
    await slowDown();
    await slownessStore().change(owner, before => withDuration(before, 15_000, noon));
    const ids = await wait(320);
    await sweep();
    expect(sent).toHaveLength(300);
    expect((await slowness()).backlogAt).toBe(noon); // arrivals wait behind the rest
    clock.advance(minute);
    await sweep();
    expect(sent).toHaveLength(320);
    expect((await slowness()).backlogAt).toBeUndefined();
    expect(slots()).toEqual(ids.map((_, at) => noon + at * 250));
  });

  // The retry lane drops what waits for a slot: a message that came before the note was lost until the sweeper looked again.
  it('releases waiting deliveries when the webhook is quick again, a hundred a second, and stores that before it sends them', async () => {
    const ids = await waitSlow(25);
    await speedUp();
    await sweep();
    expect(sent.map(({ to }) => to)).toEqual(ids.map(() => 'retry'));
    expect(slots()).toEqual(ids.map((_, at) => noon + at * 10));
    expect(sent.map(({ stored }) => stored?.wait?.slowLane)).toEqual(ids.map(() => undefined));
    expect((await readAll(ids)).map(({ wait }) => wait?.turnAt)).toEqual(ids.map((_, number) => noon - number));
    expect(telemetry.counts).toEqual({ BacklogReleased: 25 });
  });

  it('gives a slot at the next sweep to what the slow queue did not accept', async () => {
    const ids = await waitSlow(3);
    refused = 1;
    await sweep();
    expect(await placesOf(ids)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(telemetry.counts).toEqual({ AttemptNotSent: 1 });
    refused = 0;
    clock.advance(minute);
    await sweep();
    expect(await placesOf(ids)).toEqual(['queued', 'queued', 'queued']);
  });

  it.each(['slow', 'retry'] as const)(
    'fails, so that an alarm goes off, when the %s queue does not answer',
    async to => {
      const down = { sendAll: () => Promise.reject(new Error('no answer')) };
      const ids = await waitSlow(3);
      if (to === 'retry') await speedUp();
      await expect(sweep({ queues: { retry: down, slow: down } })).rejects.toThrow('no answer');
      if (to === 'slow') expect(await placesOf(ids)).toEqual(Array(3).fill('waiting'));
    },
  );

  it('ends deliveries that have waited for ten days', async () => {
    const ids = await waitSlow(2, { scheduledAt: noon - 10 * day + 1 });
    await sweep();
    expect((await readAll(ids)).map(({ state }) => state)).toEqual(['pending', 'pending']);
    owner = { ...owner, accountId: `${owner.accountId}-old` };
    await slowDown();
    expect(lookedAt).toBe(0);
    const old = await wait(60, { scheduledAt: noon - 10 * day });
    await sweep();
    expect((await readAll(old)).map(({ state, charged }) => [state, charged])).toEqual(old.map(() => ['failed', 0]));
    expect(telemetry.counts).toMatchObject({ Exhausted: 60 });
    expect(lookedAt).toBe(1); // each look may write to the webhook
    expect(telemetry.lines.join()).toContain('delivery.too_old');
    const stale = await endTooOld(aDelivery({}), async () => false, { ...telemetry, now: clock.now });
    expect([stale, telemetry.counts]).toMatchObject([undefined, { Exhausted: 60, StaleDropped: 1 }]);
  });

  it('is claimed by one sweeper until the next minute', async () => {
    const ids = await waitSlow(25);
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(sent).toHaveLength(ids.length);
    clock.advance(49 * second);
    expect(await sweep()).toBe(false);
    clock.advance(second);
    expect(await sweep()).toBe(true);
  });

  it('gives the slots after those that others reserve meanwhile', async () => {
    const ids = await waitSlow(3);
    let races = 2;
    const reserving = {
      ...slownessStore(),
      reserveUntil: async (...all: Parameters<ReturnType<typeof slownessStore>['reserveUntil']>) => {
        if (races-- > 0) expect(await slownessStore().reserve(await slowness(), 1)).toBeDefined();
        return slownessStore().reserveUntil(...all);
      },
    };
    await sweep({ slownessStore: reserving });
    expect(slots()).toEqual([500, 750, 1_000].map(after => noon + after));
    expect(await placesOf(ids)).toEqual(['queued', 'queued', 'queued']);
  });

  it('gives none where it loses every race, says so, and leaves arrivals waiting', async () => {
    await waitSlow(3);
    await sweep({ slownessStore: { ...slownessStore(), reserveUntil: async () => false } });
    expect(sent).toEqual([]);
    expect(telemetry.lines.join()).toContain('slow_lane.slots_not_reserved');
    expect((await slowness()).backlogAt).toBe(noon);
    clock.advance(minute);
    await sweep();
    expect(sent).toHaveLength(3);
  });

  // They took slots only to be cancelled: a new registration's events waited behind twelve hours of them.
  it('gives slots to a new registration at once, and none to what waits for the former one', async () => {
    await slowDown();
    const old = await wait(900);
    clock.advance(10 * minute);
    webhook = aWebhook({ ...owner, webhookId: 'webhook-2', createdAt: now() });
    const present = await wait(1, { webhookId: 'webhook-2', id: idOf(9_000) }, now());
    await sweep();
    expect(slots()).toEqual([now()]);
    expect((await slowness()).nextSlotAt).toBe(now() + 250);
    expect((await slowness()).backlogAt).toBeUndefined();
    expect((await readAll(present))[0]).toMatchObject({ state: 'pending', wait: { slowLane: 'queued' } });
    for (const ids of [old.slice(0, 100), old.slice(-100)]) {
      expect((await readAll(ids)).map(({ state, charged }) => [state, charged])).toEqual(
        ids.map(() => ['cancelled', 0]),
      );
    }
    expect(telemetry.counts).toEqual({ Cancelled: 900, MovedToSlowLane: 1 });
    expect(telemetry.lines.filter(line => line.includes('delivery.cancelled'))).toHaveLength(900);
  });

  it.each([
    [
      'is suspended',
      'held',
      'Held',
      (): Webhook => aWebhook({ ...owner, status: 'suspended', suspensionReason: 'gone' }),
    ],
    ['is gone', 'cancelled', 'Cancelled', (): Webhook | undefined => undefined],
  ] as const)('ends without slots what waits for a webhook that %s', async (_, state, metric, webhookNow) => {
    const ids = await waitSlow(500);
    webhook = webhookNow();
    let writes = 0;
    const update: DeliveryStore['update'] = async (...change) => {
      expect(++writes).toBeLessThanOrEqual(50); // the process has fifty sockets for all that it does
      return store()
        .update(...change)
        .finally(() => writes--);
    };
    await sweep({ store: { ...store(), update } });
    expect(sent).toEqual([]);
    expect((await readAll(ids.slice(-100))).map(delivery => delivery.state)).toEqual(Array(100).fill(state));
    expect(telemetry.counts).toEqual({ [metric]: 500 });
    expect((await slowness()).nextSlotAt).toBe(0);
    clock.advance(6 * minute);
    expect(await sweep()).toBe(true);
    clock.advance(minute);
    expect(await sweep()).toBe(false);
  });

  it('ends what waits for the former webhook though no slot is free', async () => {
    await slowDown();
    await takeAllUntil(noon + 90 * second);
    const ids = await wait(3);
    clock.advance(10 * minute);
    await takeAllUntil(now() + 90 * second);
    webhook = aWebhook({ ...owner, webhookId: 'webhook-2', createdAt: now() });
    await sweep();
    expect((await readAll(ids)).map(({ state }) => state)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  it('cancels nothing of a webhook that is registered while the sweeper reads', async () => {
    const ids = await waitSlow(3, { webhookId: 'webhook-2' });
    let registered: Webhook | undefined;
    const findWebhook = async () => {
      const found = registered;
      registered = aWebhook({ ...owner, webhookId: 'webhook-2' });
      return found;
    };
    await sweep({ findWebhook });
    expect((await readAll(ids)).map(({ state }) => state)).toEqual(['pending', 'pending', 'pending']);
    expect(sent).toHaveLength(3);
  });

  it('leaves the rest to the next sweep when time runs out', async () => {
    await waitSlow(100);
    let asked = 0;
    await sweep(undefined, () => asked++ < 3); // to begin, for a first chunk, and for its first batches
    expect(sent).toHaveLength(80);
    clock.advance(minute);
    await sweep();
    expect(sent).toHaveLength(100);
    expect(new Set(sent.map(({ delivery }) => delivery.id)).size).toBe(100);
  });

  it.each([
    ['its webhook is read', 1, 'active'],
    ['it has read what is due since the registration', 2, 'suspended'],
  ] as const)(
    'keeps its task where its time is over once %s: what it has not read still waits',
    async (_when, calls, status) => {
      await waitSlow(3);
      webhook = aWebhook({ ...owner, status, suspensionReason: status === 'active' ? null : 'gone' });
      clock.advance(6 * minute);
      let asked = 0;
      await sweep(undefined, () => asked++ < calls);
      expect(await slowness()).toHaveProperty('waitingAt');
      clock.advance(minute);
      expect(await sweep()).toBe(true);
    },
  );

  it('runs on for five minutes after the last arrival, then ends', async () => {
    await waitSlow(1);
    const sweeps: boolean[] = [];
    for (let passed = 0; passed < 8; passed++) {
      sweeps.push(await sweep());
      clock.advance(minute);
    }
    expect(sweeps).toEqual([true, true, true, true, true, true, true, false]);
    expect(await slowness()).not.toHaveProperty('waitingAt');
  });

  it('finds a delivery that was stored long after its arrival was recorded', async () => {
    await slowDown();
    await slownessStore().beginWaiting(await slowness());
    await sweep();
    clock.advance(4.5 * minute);
    await store().create(waitingForSlot(aDelivery({ ...owner, id: idOf(1) }), noon));
    await sweep();
    expect(sent).toHaveLength(1);
  });
});

describe('a delivery that waits in the table', () => {
  let world: DeliveryWorld;
  const begin = async (count: number) => {
    world = makeDeliveryWorld();
    await world.register();
    await world.slowDown();
    await world.takeSlots();
    for (let event = 0; event < count; event++) world.publishEvent();
    while (await world.step('first'));
    expect(world.counts).toMatchObject({ WaitsForSlot: count });
    await world.pass(minute);
  };

  it.each(['slow still', 'quick again'])('is delivered once when the webhook is %s', async what => {
    await begin(12);
    if (what === 'quick again') await world.speedUp();
    await world.settle();
    expect(world.deliveries().map(({ state }) => state)).toEqual(Array(12).fill('delivered'));
    expect(world.posts).toHaveLength(12);
    expect(new Set(world.posts.map(({ lane }) => lane))).toEqual(new Set([what === 'quick again' ? 'retry' : 'slow']));
    expect((await world.slowness())?.dueAt).toBeUndefined();
  });

  // A receiver that hung at five events a second stayed active for ever: none of its deliveries came to a last attempt.
  it.each([
    ['and suspends the webhook where all has failed for five days', 5 * day, 'suspended'],
    ['and leaves the webhook active where all has failed for less', 5 * day - 1, 'active'],
  ])('ends ten days after acceptance, %s', async (_, failingFor, status) => {
    await begin(3);
    await world.register({ failingSince: noon + 10 * day - failingFor });
    await world.run(noon + 10 * day);
    for (let sweeps = 0; sweeps < 2; sweeps++) await world.sweep();
    expect(world.deliveries().map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
    expect(await world.webhook()).toMatchObject({ status });
    const [told] = world.announced;
    if (status === 'active') expect(world.announced).toEqual([]);
    else
      expect(world.announced).toMatchObject([{ type: 'webhook.suspended', reason: 'sem_sucesso', lastResult: null }]);
    if (told) expect(world.deliveries().map(({ id }) => id)).toContain(told.deliveryId);
  });

  it('is charged for failures only', async () => {
    await begin(1);
    world.answers.push(answer(500));
    await world.settle();
    expect(world.deliveries()).toMatchObject([{ state: 'delivered', charged: 1, attempt: 3 }]);
  });

  it.each([
    ['gives slots', false],
    ['releases', true],
  ])(
    'is lost by no sweeper that dies at any step while it %s',
    (_, isQuick) =>
      everyCrash(async crash => {
        await begin(2);
        if (isQuick) await world.speedUp();
        await world.pass(minute);
        // The first seventeen calls look for what is due.
        await world.sweep({ ...crash, afterCalls: 16 + crash.afterCalls });
        await world.settle();
        expect(world.deliveries().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
        expect(world.posts).toHaveLength(2);
      }),
    60_000,
  );
});
