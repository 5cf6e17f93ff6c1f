import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settled } from '../../../lambdas/delivery/delivery.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { aDelivery } from './builders.ts';
import { simulate } from './simulation.ts';

const page = 4;

/** Counting or sending a page takes a dozen calls and more. */
const crash = fc.option(fc.record({ afterCalls: fc.nat(90), hasEffect: fc.boolean() }), { nil: undefined, freq: 2 });
const wanted = fc.constantFrom('falhou' as const, 'retida' as const);

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('start' as const), wanted, crash }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('sweep' as const), crash }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('redeliver' as const), count: fc.integer({ min: 1, max: 9 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(300, 10_000, 60_000, 130_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), crash }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resend' as const), delivery: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('suspend' as const, 'reactivate' as const, 'register' as const) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

const state = fc.oneof(
  { weight: 5, arbitrary: fc.constant('falhou' as const) },
  { weight: 2, arbitrary: fc.constant('retida' as const) },
  { weight: 1, arbitrary: fc.constantFrom('entregue' as const, 'cancelada' as const) },
);
const stored = fc.array(state, { minLength: 6, maxLength: 20, size: 'max' });
const actions = fc.array(action, { minLength: 4, maxLength: 20, size: 'max' });

const webhookPath = '/v1/webhooks/demanda.criada';
const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-22T00:00:00Z' };

interface KnownReplay {
  readonly wanted: string;
  readonly startedAt: number;
  readonly sent: Set<string>;
  /** When each delivery that it sent is due. */
  readonly dues: Map<string, number>;
}

let dynalite: Dynalite;
beforeAll(async () => {
  dynalite = await startDynalite('Deliveries', 'Webhooks');
});
afterAll(() => dynalite.stop());

describe('replays', () => {
  it('send each delivery of their range once and say so, whatever happens between any two steps', async () => {
    await fc.assert(
      fc.asyncProperty(stored, actions, crash, async (states, actions, firstCrash) => {
        const world = await simulate(dynalite, page);
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

        const known = new Map<string, KnownReplay>();
        let resends = 0;
        /** Sees every replay that began and every delivery that it sent: none can pass between two steps unseen. */
        const look = async () => {
          const items = await world.items();
          for (const { replayId, wanted, startedAt, id } of items) {
            if (String(id).includes('#') && replayId && !known.has(replayId)) {
              known.set(replayId, { wanted, startedAt, sent: new Set(), dues: new Map() });
            }
          }
          for (const { replayId, id, nextAttemptAt } of items) {
            const replay = String(id).includes('#') ? undefined : known.get(replayId);
            if (replay && !replay.sent.has(id) && nextAttemptAt) replay.dues.set(id, nextAttemptAt);
            replay?.sent.add(id);
          }
        };

        const run = async (step: Action) => {
          switch (step.do) {
            case 'start':
              return world.request(
                'POST',
                `${webhookPath}/reenvios`,
                { body: { ...day, estado: step.wanted } },
                step.crash,
              );
            case 'sweep':
              return world.sweep(step.crash);
            case 'redeliver':
              for (let turn = 0; turn < step.count; turn++) await world.redeliverNext();
              return;
            case 'wait':
              return world.clock.advance(step.ms);
            case 'cancel':
              return world.request('DELETE', `${webhookPath}/reenvios/${[...known.keys()].at(-1)}`, {}, step.crash);
            case 'resend': {
              const id = ids[step.delivery % ids.length];
              const answered = await world.request('POST', `${webhookPath}/entregas/${id}/reenvio`);
              if (answered?.status === 202) resends++;
              return;
            }
            case 'suspend':
              isActive = false;
              return register({ status: 'suspenso', suspensionReason: 'operador' });
            case 'reactivate':
              isActive = true;
              return register();
            case 'register':
              isActive = true;
              registration++;
              return register();
          }
        };
        for (const step of [{ do: 'start', wanted: 'falhou', crash: firstCrash } as const, ...actions]) {
          const before = world.posts.length;
          const [active, current] = [isActive, registration];
          await run(step);
          await look();
          // only what belongs to the registration of that moment leaves, and nothing while it is suspended
          for (const { url } of world.posts.slice(before)) {
            expect(active).toBe(true);
            expect(current).toBe(1);
            expect(url).toBe('https://r1.example.com/');
          }
        }
        await world.settle();
        await look();

        const deliveries = await world.all();
        expect(deliveries.filter(({ state }) => state === 'pendente')).toEqual([]);
        let shownSent = 0;
        for (const [id, { wanted, startedAt, sent, dues }] of known) {
          const { json } = (await world.request('GET', `${webhookPath}/reenvios/${id}`)) ?? {};
          expect(json.estado).not.toBe('em_andamento');
          shownSent += sent.size;
          if (json.estado === 'concluido') {
            expect(json.enviadas).toBe(sent.size);
            expect(json.enviadas).toBeLessThanOrEqual(json.total);
            const forgotten = deliveries.filter(
              ({ state, settledAt }) => state === wanted && (settledAt ?? Number.NaN) < startedAt,
            );
            expect(forgotten).toEqual([]);
          } else {
            expect(json.enviadas).toBeLessThanOrEqual(sent.size);
          }
          const times = [...dues.values()].toSorted((one, other) => one - other);
          for (const [at, time] of times.entries()) {
            expect(time - (times[at - 10] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(1_000);
          }
        }
        // every receiver answers 200: one POST for each time a delivery was sent again, at most
        expect(world.posts.length).toBeLessThanOrEqual(shownSent + resends);
      }),
      { numRuns: 80 },
    );
  }, 240_000);
});
