import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import type { Replay } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { aDelivery } from '../builders.ts';
import type * as simulation from '../simulation.ts';
import { afterWrites, type Begun, shortestGap, watchWorkers } from './replay-workers.ts';

/** Deliveries that are looked at between two saves: so few that a dozen fill several pages. */
const page = 3;
const runner = '../../../../lambdas/delivery/replay/replay-runner.ts';
let simulate: (typeof simulation)['simulate'];
/** The functions as they are deployed, but for that one number: no other suite may meet it. */
beforeAll(async () => {
  vi.resetModules();
  vi.doMock(runner, async importOriginal => ({ ...(await importOriginal<object>()), replayPage: page }));
  ({ simulate } = await import('../simulation.ts'));
});
afterAll(() => {
  vi.doUnmock(runner);
  vi.resetModules();
});

/**
 * Where a worker is frozen: among its writes. A sweeper claims, reserves slots, sends a page in them, and saves; a start
 * begins, and counts before it does the same.
 */
const writes = fc.oneof({ weight: 3, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.nat(14) });
const stall = fc.option(fc.record({ writes, hasEffect: fc.boolean() }), { nil: undefined, freq: 2 });
type StallPlan = typeof stall extends fc.Arbitrary<infer Value | undefined> ? NonNullable<Value> : never;
const wanted = fc.constantFrom('failed' as const, 'held' as const);

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), wanted, stall }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('sweep' as const), stall }) },
  // two processes work on a replay at once, and either is done first
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('sweep twice' as const), stall, other: stall, inOrder: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('go on' as const), worker: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      count: fc.integer({ min: 1, max: 9 }),
      isTwice: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('retry slow' as const),
      count: fc.integer({ min: 1, max: 9 }),
      isTwice: fc.boolean(),
    }),
  },
  // deliveries of a replay to a slow webhook are handed over to the slow lane, with slots of that
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('slow down' as const, 'speed up' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(300, 10_000, 130_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resend' as const), delivery: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('suspend' as const, 'reactivate' as const, 'register' as const) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

const state = fc.oneof(
  { weight: 5, arbitrary: fc.constant('failed' as const) },
  { weight: 2, arbitrary: fc.constant('held' as const) },
  { weight: 1, arbitrary: fc.constantFrom('delivered' as const, 'cancelled' as const) },
);
const stored = fc.array(state, { minLength: 4, maxLength: 12, size: 'max' });
const actions = fc.array(action, { minLength: 4, maxLength: 12, size: 'max' });

/** The time for which slots are reserved already when the first replay begins, in milliseconds: those of a cancelled one. */
const given = fc.constantFrom(0, 110_000, 110_000);

const webhookPath = '/v1/webhooks/demanda.criada';
const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-22T00:00:00Z' };

/** The sweeper comes when the claim of the last one is just over. */
const betweenSweeps = 52_000;

const stallOf = (plan: StallPlan | undefined) => plan && afterWrites(plan.writes, plan.hasEffect);

/** Returns whether a delivery is still as the replay was to find it. */
const isOf = ({ wanted, startedAt }: Begun, { state, settledAt = Number.NaN }: Delivery) =>
  state === wanted && settledAt < startedAt;

/** A replay with reserved slots. */
const aReplay = (nextSlotAt: number): Replay => ({
  id: 'reenvio_cancelled',
  accountId: 'conta-1',
  eventName: 'demanda.criada',
  webhookId: 'webhook-1',
  from: 0,
  to: 0,
  wanted: 'failed',
  state: 'running',
  startedAt: 0,
  total: 0,
  countCursor: null,
  sent: 0,
  lastSlotAt: 0,
  sendCursor: '',
  inFlight: [],
  nextSlotAt,
  claim: 1,
  lookAt: 0,
});

let database: Database;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
});
afterAll(() => database.stop());

describe('replays', () => {
  it('send each delivery of their range, ten a second, and count them, whatever happens between any two steps', async () => {
    await fc.assert(
      fc.asyncProperty(
        stored,
        given,
        actions,
        stall,
        fc.boolean(),
        async (states, given, actions, firstStall, allGoOn) => {
          const watched = watchWorkers(database);
          const { work, still, begun, restarts } = watched;
          const world = await simulate(watched.database);
          let registration = 1;
          let isActive = true;
          const webhookId = () => `webhook-${registration}`;
          const register = (changes: object = {}) =>
            world.register({ webhookId: webhookId(), url: `https://r${registration}.example.com/`, ...changes });
          await register();
          const ids = await Promise.all(
            states.map(async (state, number) => {
              const id = `evt_${String(number).padStart(27, '0')}`;
              const createdAt = world.clock.now() - (100 - number) * 1_000;
              const delivery = aDelivery({ id, createdAt, scheduledAt: createdAt, webhookId: webhookId() });
              await world.store.create(settled(delivery, state, createdAt + 500));
              return id;
            }),
          );

          const { now } = world.clock;
          const replays = makeReplayStore({ dynamo: database.dynamo, table: 'Deliveries', now, historyDays: 30 });
          const earlier = aReplay(now() + given);
          await replays.start(earlier, undefined);
          await replays.cancel(earlier);

          /** The deliveries that each replay is to send. */
          const expected = new Map<string, Set<string>>();
          const cancelled: { id: string; at: number; already: number; underWay: number }[] = [];
          const resent: string[] = [];
          const forgotten = new Set<string>();
          const sweep = (stall: StallPlan | undefined) => {
            world.clock.advance(betweenSweeps);
            return work(() => world.sweep(), stallOf(stall));
          };
          const sentBy = (replayId: string) => restarts.filter(restart => restart.replayId === replayId);

          /** Deliveries before their slots are not sent when their replay is cancelled. */
          const expectNothingWithdrawn = (before: number) => {
            for (const { id } of world.posts.slice(before).filter(({ id }) => !resent.includes(id))) {
              const { replayId, nextAttemptAt = 0 } = restarts.findLast(restart => restart.id === id) ?? {};
              const end = cancelled.find(({ id }) => id === replayId);
              expect(nextAttemptAt).toBeLessThanOrEqual(end?.at ?? Number.POSITIVE_INFINITY);
            }
          };

          const run = async (step: Action) => {
            switch (step.do) {
              case 'start': {
                const before = await world.all();
                const already = begun.length;
                const body = { ...day, estado: step.wanted };
                await work(() => world.request('POST', `${webhookPath}/reenvios`, { body }), stallOf(step.stall));
                const replay = begun[already];
                if (!replay) return;
                const matching = before.filter(
                  delivery => delivery.webhookId === replay.webhookId && isOf(replay, delivery),
                );
                expected.set(replay.replayId, new Set(matching.map(({ id }) => id)));
                return;
              }
              case 'sweep':
                await sweep(step.stall);
                return;
              case 'sweep twice': {
                const both = [await sweep(step.stall), await sweep(step.other)];
                for (const goOn of step.inOrder ? both : both.toReversed()) await goOn();
                return;
              }
              case 'go on':
                return [...still][step.worker % still.size]?.();
              case 'retry':
                for (let time = 0; time < step.count; time++) await world.retryNext(undefined, step.isTwice);
                return;
              case 'retry slow':
                for (let time = 0; time < step.count; time++) await world.retrySlowNext(undefined, step.isTwice);
                return;
              case 'slow down':
                return world.slowDown();
              case 'speed up':
                return world.speedUp();
              case 'wait':
                return world.clock.advance(step.ms);
              case 'cancel': {
                const id = begun.at(-1)?.replayId ?? '';
                const shown = await world.request('GET', `${webhookPath}/reenvios/${id}`);
                if (shown?.status === 200 && shown.json.estado !== 'running') forgotten.add(id);
                const already = sentBy(id).length;
                const answered = await world.request('DELETE', `${webhookPath}/reenvios/${id}`);
                if (answered?.status === 204) cancelled.push({ id, at: now(), already, underWay: still.size });
                return;
              }
              case 'resend': {
                const id = ids[step.delivery % ids.length] ?? '';
                const answered = await world.request('POST', `${webhookPath}/entregas/${id}/reenvio`);
                if (answered?.status !== 202) return;
                resent.push(id);
                return;
              }
              case 'suspend':
                isActive = false;
                return register({ status: 'suspended', suspensionReason: 'operator' });
              case 'reactivate':
                isActive = true;
                return register();
              case 'register':
                isActive = true;
                registration++;
                return register();
            }
          };
          const first = { do: 'start', wanted: 'failed', stall: firstStall } as const;
          for (const step of [first, ...actions]) {
            const before = world.posts.length;
            const [active, current] = [isActive, registration];
            await run(step);
            // only what belongs to the registration of that moment leaves, and nothing while it is suspended
            for (const { url } of world.posts.slice(before)) {
              expect(active).toBe(true);
              expect(current).toBe(1);
              expect(url).toBe('https://r1.example.com/');
            }
            expectNothingWithdrawn(before);
          }
          const before = world.posts.length;
          await work(() => world.settle());
          expectNothingWithdrawn(before);
          if (allGoOn && still.size > 0) {
            for (const goOn of [...still]) await goOn();
            await work(() => world.settle());
          }

          const deliveries = await world.all();
          expect(deliveries.filter(({ state }) => state === 'pending')).toEqual([]);
          for (const replay of begun) {
            const { replayId } = replay;
            const { status, json } = (await world.request('GET', `${webhookPath}/reenvios/${replayId}`)) ?? {};
            expect(status).toBe(forgotten.has(replayId) ? 404 : 200);
            if (status !== 200) continue;
            const sent = new Set(sentBy(replayId).map(({ id }) => id));
            expect(json.estado).not.toBe('running');
            expect(json.enviadas).toBeLessThanOrEqual(sent.size);
            if (json.estado !== 'completed') continue;
            const left = deliveries.filter(({ webhookId }) => webhookId === replay.webhookId);
            expect(left.filter(delivery => isOf(replay, delivery))).toEqual([]); // none is left out
            expect(json.enviadas).toBeLessThanOrEqual(json.total);
            if (resent.length > 0) continue; // what somebody else sends again, a crash may leave uncounted
            expect(json.enviadas).toBe(sent.size);
            const all = expected.get(replayId);
            if (!all || restarts.some(restart => restart.replayId !== replayId && all.has(restart.id))) continue;
            expect(sent).toEqual(all);
            expect(json.total).toBe(all.size);
          }
          for (const { id, already, underWay } of cancelled) {
            expect(sentBy(id).length - already).toBeLessThanOrEqual(underWay * page);
          }
          for (let number = 1; number <= registration; number++) {
            const replays = begun.filter(({ webhookId }) => webhookId === `webhook-${number}`);
            const own = new Set(replays.map(({ replayId }) => replayId));
            const slots = restarts.filter(({ replayId }) => own.has(replayId));
            expect(shortestGap(slots)).toBeGreaterThanOrEqual(100);
          }
          // every receiver answers 200: one POST for each time a delivery was sent again, at most
          expect(world.posts.length).toBeLessThanOrEqual(restarts.length + resent.length);
        },
      ),
      { numRuns: 30 },
    );
  }, 120_000);
});
