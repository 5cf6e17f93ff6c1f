import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../../lambdas/delivery/intake/event.ts';
import { type Database, startDatabase } from '../../support/database/database.ts';
import { answer } from './builders.ts';
import type { Answer } from './simulation/receivers.ts';
import { schedule, simulate } from './simulation.ts';

const crash = fc.option(fc.record({ afterCalls: fc.nat(12), hasEffect: fc.boolean() }), { nil: undefined });

const action = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('publish' as const), event: fc.nat(4) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('deliver' as const), crash, isTwice: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('retry' as const), crash, isTwice: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('redeliverSlow' as const), crash, isTwice: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep' as const), crash }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(5_000, 60_000, 400_000, 1_900_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('slowDown' as const, 'speedUp' as const, 'takeSlots' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'register' as const, 'suspend' as const) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

const posted = fc.oneof(
  fc.constantFrom<Answer[]>(
    { ...answer(200), takesMs: 2_500 },
    { ...answer(500), takesMs: 4_000 },
    { ...answer(410), takesMs: 2_500 },
  ),
  fc.constantFrom(200, 204, 301, 404, 410, 500, 503).map(status => answer(status)),
  fc.constantFrom(30, 2_000).map(seconds => answer(429, { 'retry-after': String(seconds) })),
  fc
    .constantFrom('timeout', 'connection', 'tls', 'dns', 'blocked', 'internal_error')
    .map((outcome): Answer => ({ outcome, detail: outcome, durationMs: 0, resolutionMs: 0 })),
);

const publisherIds = ['a', 'b', 'c', 'd', 'e'];
const idOf = (event: number) => deliveryIdOf('conta-1', 'demanda.criada', publisherIds[event] ?? '');

const urlOf = (registration: number) => `https://r${registration}.example.com/`;

const isIncreasing = (numbers: readonly number[]) =>
  numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0));

/** Expects what must be true of a delivery at the end. */
const expectSound = (delivery: Delivery, statuses: readonly (number | undefined)[]) => {
  const { state, attempts, charged } = delivery;
  expect(state).not.toBe('pending');
  expect(isIncreasing(attempts.map(({ number }) => number))).toBe(true);
  expect(charged).toBeLessThanOrEqual(schedule.length + 1);
  const last = attempts.at(-1);
  if (state === 'delivered') {
    expect(last?.result).toBe('delivered');
    expect(statuses.some(status => status === 200 || status === 204)).toBe(true);
  } else {
    expect(attempts.every(({ result }) => result !== 'delivered')).toBe(true);
  }
  expect(charged).toBeLessThanOrEqual(attempts.filter(({ result }) => result !== 'slow').length);
  if (state === 'failed') expect(charged).toBe(schedule.length + 1);
  // each recorded attempt came no earlier than the one before it allowed
  let chargedBefore = 0;
  for (const [at, attempt] of attempts.entries()) {
    const next = attempts[at + 1];
    const isCharged = attempt.result !== 'internal' && attempt.result !== 'slow';
    if (isCharged) chargedBefore++;
    if (!next || !isCharged) continue;
    const waited = Date.parse(next.startedAt) - Date.parse(attempt.startedAt);
    expect(waited).toBeGreaterThanOrEqual((schedule[chargedBefore - 1] ?? 0) * 0.8);
  }
};

let database: Database;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
});
afterAll(() => database.stop());

describe('the life of deliveries', () => {
  it('ends well whatever happens, in whatever order: nothing lost, nothing sent where it does not belong', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 40, size: 'max' }),
        fc.array(posted, { maxLength: 30, size: 'max' }),
        async (actions, answers) => {
          const world = await simulate(database);
          world.answers.push(...answers);
          /** The moment when each event was last published, and each registration began. */
          const published = new Map<string, number>();
          const registered = new Map<string, number>();
          let registration = 1;
          const register = () => {
            registered.set(urlOf(registration), world.clock.now());
            return world.register({ webhookId: `webhook-${registration}`, url: urlOf(registration) });
          };
          await register();

          const run = async (step: Action) => {
            switch (step.do) {
              case 'publish':
                published.set(idOf(step.event), world.clock.now());
                return world.publish({
                  id_conta: 'conta-1',
                  event: 'demanda.criada',
                  id_demanda: step.event + 1,
                  id: publisherIds[step.event],
                });
              case 'deliver':
                return world.deliverNext(step.crash, step.isTwice);
              case 'retry':
                return world.retryNext(step.crash, step.isTwice);
              case 'redeliverSlow':
                return world.retrySlowNext(step.crash, step.isTwice);
              case 'slowDown':
                return world.slowDown();
              case 'speedUp':
                return world.speedUp();
              case 'takeSlots':
                return world.takeSlots();
              case 'sweep':
                return world.sweep(step.crash);
              case 'wait':
                return world.clock.advance(step.ms);
              case 'remove':
                return world.remove();
              case 'suspend':
                return world.register({
                  webhookId: `webhook-${registration}`,
                  status: 'suspended',
                  suspensionReason: 'operator',
                });
              case 'register':
                registration++;
                world.clock.advance(3_000); // no closer to the events before it than clocks agree
                return register();
            }
          };
          /** Expects the POSTs of a step to go to the registration of that moment, which is no younger than the event. */
          const checkPosts = async (step: () => unknown) => {
            const before = world.posts.length;
            await step();
            for (const { id, url } of world.posts.slice(before)) {
              expect(url).toBe(urlOf(registration));
              expect(registered.get(url) ?? 0).toBeLessThanOrEqual((published.get(id) ?? 0) + 2_000);
            }
          };
          /** Expects a webhook that keeps failing to take no place of the first lane. */
          const checkLanes = async (step: () => unknown) => {
            const before = world.posts.length;
            const webhook = await world.webhook();
            const isFailing = world.clock.now() - (webhook?.failingSince ?? Number.NaN) >= 60_000;
            const slowness = await world.slowness();
            await step();
            for (const { lane } of world.posts.slice(before)) {
              if (slowness?.slowSince !== undefined) expect(lane).toBe('slow');
              else if (isFailing) expect(lane).not.toBe('first');
            }
          };
          for (const step of actions) await checkPosts(() => checkLanes(() => run(step)));
          await checkPosts(world.settle);

          const deliveries = await world.all();
          for (const delivery of deliveries) {
            const own = world.posts.filter(({ id }) => id === delivery.id);
            const statuses = own.map(({ status }) => status);
            expectSound(delivery, statuses);
            expect(own.every(({ body }) => body === delivery.body)).toBe(true);
          }
          const stored = new Set(deliveries.map(({ id }) => id));
          const unheard = world.lines.filter(line => line.includes('event.without_webhook'));
          for (const id of published.keys()) {
            expect(stored.has(id) || unheard.some(line => line.includes(id))).toBe(true);
          }
          expect(world.deadLetters).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  }, 120_000);
});
