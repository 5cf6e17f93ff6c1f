import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../lambdas/delivery/delivery.ts';
import { makeReadHistory } from '../../../lambdas/delivery/delivery-history.ts';
import { makeDeliveryStore } from '../../../lambdas/delivery/delivery-store.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { aDelivery, noon } from './builders.ts';

let dynalite: Dynalite;
beforeAll(async () => {
  dynalite = await startDynalite('Deliveries');
});
afterAll(() => dynalite.stop());

const { now } = frozenClock();
const storeHere = () => makeDeliveryStore({ documents: dynalite.documents, table: 'Deliveries', now, historyDays: 30 });
const readHistory: ReturnType<typeof makeReadHistory> = query =>
  makeReadHistory({ documents: dynalite.documents, table: 'Deliveries', store: storeHere() })(query);

const idOf = (accountId: string, number: number) => `evt_${accountId}-${String(number).padStart(20, '0')}`;

/** Stores deliveries of an account, one a second, and gives them newest first. */
const fill = async (
  accountId: string,
  count: number,
  stateOf: (number: number) => DeliveryState = () => 'entregue',
) => {
  const deliveries = Array.from({ length: count }, (_, number): Delivery => {
    const state = stateOf(number);
    const delivery = aDelivery({ id: idOf(accountId, number), accountId, createdAt: noon + number * 1_000 });
    return state === 'pendente'
      ? { ...delivery, wait: { nextAttemptAt: noon, lookAt: noon, pickups: 0 } }
      : settled(delivery, state, noon);
  });
  await Promise.all(deliveries.map(delivery => storeHere().create(delivery)));
  return deliveries.toReversed();
};

const readAll = async (accountId: string, limit: number, state?: DeliveryState, between = async () => {}) => {
  const pages: (readonly Delivery[])[] = [];
  let after: string | undefined;
  do {
    const page = await readHistory({ accountId, evento: 'demanda.criada', limit, state, after });
    pages.push(page.deliveries);
    after = page.next;
    await between();
  } while (after !== undefined);
  return pages;
};

describe('the history', () => {
  it.each([1, 7, 20, 100])('comes newest first, in pages of %i', async limit => {
    const accountId = `pages-of-${limit}`;
    const all = await fill(accountId, 45);
    const pages = await readAll(accountId, limit);
    expect(pages.flat()).toEqual(all);
    expect(pages.slice(0, -1).every(page => page.length === limit)).toBe(true);
  });

  it('is empty for another account or event', async () => {
    await fill('somebody', 3);
    const nobody = { accountId: 'somebody-else', evento: 'demanda.criada', limit: 10 } as const;
    expect(await readHistory(nobody)).toEqual({ deliveries: [], next: undefined });
    const other = { accountId: 'somebody', evento: 'demanda.cancelada', limit: 10 } as const;
    expect(await readHistory(other)).toEqual({ deliveries: [], next: undefined });
  });

  it('neither repeats nor skips anything while deliveries are added', async () => {
    const all = await fill('busy', 40);
    let added = 1_000;
    const pages = await readAll('busy', 9, undefined, async () => {
      const delivery = aDelivery({ id: idOf('busy', added), accountId: 'busy', createdAt: noon + added * 1_000 });
      await storeHere().create(settled(delivery, 'entregue', noon));
      added++;
    });
    expect(pages.flat()).toEqual(all);
  });

  it('holds everything that was there from the beginning exactly once, whatever is written between pages', async () => {
    const write = fc.record({
      at: fc.integer({ min: -60, max: 60 }),
      state: fc.constantFrom('entregue' as const, 'falhou' as const, 'retida' as const),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 11 }),
        fc.array(write, { maxLength: 20 }),
        async (count, limit, writes) => {
          const accountId = `property-${++run}`;
          const all = await fill(accountId, count);
          let added = 1_000;
          const pages = await readAll(accountId, limit, undefined, async () => {
            // one delivery is added, before, among or after those that are there, and one of those changes
            const { at, state } = writes.pop() ?? { at: 0, state: 'falhou' as const };
            const changed = all[Math.abs(at) % count];
            const createdAt = noon + at * 1_000;
            const fresh = aDelivery({ id: idOf(accountId, added++), accountId, createdAt });
            await storeHere().create(settled(fresh, state, noon));
            if (changed) await storeHere().update(changed, settled({ ...changed, attempt: 2 }, state, noon));
          });
          const ids = pages.flat().map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          const original = new Set(all.map(({ id }) => id));
          expect(ids.filter(id => original.has(id))).toEqual(all.map(({ id }) => id));
          expect(pages.every(page => page.length <= limit)).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it('of one state holds all of that state, however rare', async () => {
    const all = await fill('rare', 900, number => (number % 300 === 0 ? 'falhou' : 'entregue'));
    const pages = await readAll('rare', 100, 'falhou');
    expect(pages.flat()).toEqual(all.filter(({ state }) => state === 'falhou'));
    expect(pages.length).toBeGreaterThan(1);
  }, 20_000);

  it('shows what is pending with its next attempt', async () => {
    await fill('pending', 1, () => 'pendente');
    const { deliveries } = await readHistory({ accountId: 'pending', evento: 'demanda.criada', limit: 1 });
    expect(deliveries).toMatchObject([{ state: 'pendente', wait: { nextAttemptAt: noon } }]);
  });
});
