import type { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeReadHistory } from '../../../../lambdas/delivery/store/delivery-history.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { frozenClock } from '../../../support/clock.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { putAll } from '../../../support/database/put-all.ts';
import { amount, casesOf } from '../../../support/sample.ts';
import { aDelivery, noon } from '../builders.ts';

const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

const { time } = frozenClock();
const storeHere = () => makeDeliveryStore({ ...time, dynamo: database.dynamo, table: 'Deliveries' });
const readHistory: ReturnType<typeof makeReadHistory> = query =>
  makeReadHistory({ dynamo: database.dynamo, table: 'Deliveries', store: storeHere() })(query);

/** The same when all that was final at noon is past its time. */
const readLater: typeof readHistory = query => {
  const later = { ...time, now: () => noon + 31 * 24 * 3_600_000, dynamo: database.dynamo, table: 'Deliveries' };
  return makeReadHistory({ ...later, store: makeDeliveryStore({ ...later }) })(query);
};

const idOf = (accountId: string, number: number) => `evt_${accountId}-${String(number).padStart(20, '0')}`;

const states = ['pending', 'delivered', 'failed', 'held', 'cancelled'] as const;

const inState = (delivery: Delivery, state: DeliveryState): Delivery =>
  state === 'pending'
    ? { ...delivery, state, wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 } }
    : settled(delivery, state, noon);

/** Stores deliveries of an account, one a second from `first` seconds after noon on, and returns them newest first. */
const fill = async (
  accountId: string,
  count: number,
  stateOf: (number: number) => DeliveryState = () => 'delivered',
  { first = 0, ...changes }: Partial<Delivery> & { readonly first?: number } = {},
) => {
  const deliveries = Array.from({ length: count }, (_, number): Delivery => {
    const id = idOf(accountId, first + number);
    const createdAt = noon + (first + number) * 1_000;
    return inState(aDelivery({ id, accountId, createdAt, ...changes }), stateOf(number));
  });
  const items = deliveries.map(delivery => itemFromDelivery(delivery));
  await putAll(database.dynamo, 'Deliveries', items);
  return deliveries.toReversed();
};

const readAll = async (
  accountId: string,
  limit: number,
  state?: DeliveryState,
  between: () => Promise<unknown> = async () => {},
  read = readHistory,
) => {
  const pages: (readonly Delivery[])[] = [];
  let after: string | undefined;
  do {
    const page = await read({ accountId, eventName: 'demanda.criada', limit, state, after });
    pages.push(page.deliveries);
    after = page.next;
    await between();
  } while (after !== undefined);
  return pages;
};

describe('the history', () => {
  it('is empty for another account or event', async () => {
    await fill('somebody', 3);
    const nobody = { accountId: 'somebody-else', eventName: 'demanda.criada', limit: 10 } as const;
    expect(await readHistory(nobody)).toEqual({ deliveries: [], next: undefined });
    const other = { accountId: 'somebody', eventName: 'demanda.cancelada', limit: 10 } as const;
    expect(await readHistory(other)).toEqual({ deliveries: [], next: undefined });
  });

  it('neither repeats nor skips anything while deliveries are added', async () => {
    const all = await fill('busy', 40);
    let added = 1_000;
    const pages = await readAll('busy', 9, undefined, async () => {
      const delivery = aDelivery({ id: idOf('busy', added), accountId: 'busy', createdAt: noon + added * 1_000 });
      await storeHere().create(settled(delivery, 'delivered', noon));
      added++;
    });
    expect(pages.flat()).toEqual(all);
  });

  // An item changes its place in the indexes with its state, between any two calls of a page.
  it('repeats nothing, and skips nothing that stays in its state, while others change theirs', async () => {
    const change = fc.record({
      afterCalls: fc.integer({ min: 1, max: 20 }),
      of: fc.nat(40),
      to: fc.constantFrom(...states),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 30, size: 'max' }),
        fc.constantFrom(undefined, ...states),
        fc.integer({ min: 1, max: 11 }),
        fc.array(change, { maxLength: 12, size: 'max' }),
        async (stored, wanted, limit, changes) => {
          const accountId = `moving-${++run}`;
          const all = await fill(accountId, stored.length, number => stored[number] ?? 'failed');
          const current = new Map(all.map(delivery => [delivery.id, delivery]));
          const changed = new Set<string>();
          let calls = 0;
          let last: Promise<unknown> = Promise.resolve();
          const send = async (command: BatchWriteCommand) => {
            calls++;
            if (calls >= (changes[0]?.afterCalls ?? Number.POSITIVE_INFINITY)) {
              calls = 0;
              const { of = 0, to = 'failed' } = changes.shift() ?? {};
              const before = all[of % all.length] && current.get(all[of % all.length]?.id ?? '');
              if (before && before.state !== to) {
                const { wait: _, ...rest } = before;
                const after = inState({ ...rest, attempt: rest.attempt + 1 }, to);
                changed.add(before.id);
                current.set(before.id, after);
                expect(await storeHere().update(before, after)).toBe(true);
              }
            }
            return database.dynamo(command);
          };
          // One after the other, so that a change comes between any two partitions of a page.
          const inTurn = (command: BatchWriteCommand) => {
            last = last.then(() => send(command));
            return last;
          };
          const dynamo = inTurn as unknown as Dynamo;
          const store = makeDeliveryStore({ ...time, dynamo, table: 'Deliveries' });
          const read = makeReadHistory({ dynamo, table: 'Deliveries', store });
          const pages = await readAll(accountId, limit, wanted, undefined, read);
          const ids = pages.flat().map(({ id }) => id);
          expect(ids.length).toBe(new Set(ids).size);
          const steady = all.filter(({ id, state }) => !changed.has(id) && (wanted === undefined || state === wanted));
          expect(ids.filter(id => !changed.has(id))).toEqual(steady.map(({ id }) => id));
          expect(pages.flat().every(({ state }) => wanted === undefined || state === wanted)).toBe(true);
          expect(ids).toEqual(ids.toSorted().reverse());
        },
      ),
      { numRuns: amount({ sample: 8, full: 60 }) },
    );
  }, 60_000);

  describe('costs at most twenty calls a page', () => {
    const calls = async (accountId: string, limit: number, state: DeliveryState | undefined) => {
      const taken: number[] = [];
      database.operations.length = 0;
      const count = async () => taken.push(database.operations.splice(0).length);
      const pages = await readAll(accountId, limit, state, count);
      return { pages, most: Math.max(...taken) };
    };

    // With limit 1 and nothing failed it took 3,600.
    const common = [
      ['delivered', 'delivered' as const],
      ['failed', 'failed' as const],
    ] as const;
    it.each(casesOf(common, 2))(
      'beside 1,500 that are %s',
      async (name, common) => {
        const accountId = `beside-${name}`;
        const others = states.filter(state => state !== common);
        // the rare ones are the oldest
        const all = await fill(accountId, 1_620, number => (number < 120 ? (others[number % 4] ?? common) : common));
        for (const state of others) {
          for (const limit of [1, 100]) {
            const { pages, most } = await calls(accountId, limit, state);
            expect(pages.flat()).toEqual(all.filter(delivery => delivery.state === state));
            expect(pages).toHaveLength(limit === 1 ? 30 : 1);
            expect(most).toBeLessThanOrEqual(10);
          }
        }
        for (const state of [common, undefined]) {
          const { pages, most } = await calls(accountId, 100, state);
          expect(pages.flat()).toEqual(all.filter(delivery => state === undefined || delivery.state === state));
          expect(pages.slice(0, -1).every(page => page.length === 100)).toBe(true);
          expect(most).toBeLessThanOrEqual(20);
        }
        for (const after of [undefined, all[1_000]]) {
          database.operations.length = 0;
          const cursor = after && `${new Date(after.createdAt).toISOString()}#${after.id}`;
          const page = { accountId, eventName: 'demanda.criada', limit: 1, after: cursor } as const;
          expect((await readHistory(page)).deliveries).toEqual([all[after ? 1_001 : 0]]);
          expect(database.operations.length).toBeLessThanOrEqual(20);
        }
      },
      120_000,
    );

    it('where what the index still leads to is past its time', async () => {
      await fill('expired', 600, () => 'failed');
      for (const state of ['failed', undefined] as const) {
        database.operations.length = 0;
        const page = await readLater({ accountId: 'expired', eventName: 'demanda.criada', limit: 100, state });
        expect(page.deliveries).toEqual([]);
        expect(page.next).toBeDefined();
        expect(database.operations.length).toBeLessThanOrEqual(20);
      }
    });
  });

  it.each([1, 3, 100])('leaves out what is past its time, and nothing else, in pages of %i', async limit => {
    const accountId = `past-${limit}`;
    const all = await fill(accountId, 300, number => (number % 41 === 0 ? 'pending' : 'failed'));
    const pages = await readAll(accountId, limit, undefined, undefined, readLater);
    expect(pages.flat()).toEqual(all.filter(({ state }) => state === 'pending'));
  });

  describe('as it is shown under a registration', () => {
    const asked = { accountId: 'registrations', eventName: 'demanda.criada', limit: 100 } as const;
    const current = { webhookId: 'webhook-2', createdAt: noon + 1_260_000 };
    let old: Delivery[];
    let own: Delivery[];
    beforeAll(async () => {
      // by another clock than that of the registration: up to a minute early or late
      old = await fill('registrations', 10, () => 'pending', { createdAt: current.createdAt + 59_999 });
      own = await fill('registrations', 600, () => 'pending', { webhookId: current.webhookId, first: 1_200 });
    });

    it('finds what waits for an earlier one as cancelled, however much waits for this one', async () => {
      const found: Delivery[] = [];
      let after: string | undefined;
      do {
        const page = await readHistory({ ...asked, state: 'cancelled', registration: current, after });
        found.push(...page.deliveries);
        after = page.next;
      } while (after !== undefined);
      expect(found.map(({ id, state }) => [id, state])).toEqual(old.map(({ id }) => [id, 'cancelled']));
      const waiting = await readHistory({ ...asked, state: 'pending', registration: current });
      expect(waiting.deliveries).toEqual(own.slice(0, 100));
      const last = own.at(-3);
      const beforeEnd = last && `${new Date(last.createdAt).toISOString()}#${last.id}`;
      const end = await readHistory({ ...asked, state: 'pending', registration: current, after: beforeEnd });
      expect(end).toEqual({ deliveries: own.slice(-2), next: undefined });
    });

    it('finds nothing waiting where there is none, and all of it cancelled', async () => {
      expect(await readHistory({ ...asked, state: 'pending', registration: null })).toEqual({
        deliveries: [],
        next: undefined,
      });
      const page = await readHistory({ ...asked, state: 'cancelled', registration: null });
      expect(page.deliveries.map(({ id }) => id)).toEqual(own.slice(0, 100).map(({ id }) => id));
      expect(page.deliveries.every(({ state, wait }) => state === 'cancelled' && !wait)).toBe(true);
    });

    it('keeps states as they are stored when no registration is asked for', async () => {
      const { deliveries } = await readHistory({ ...asked, state: 'pending' });
      expect(deliveries).toEqual(own.slice(0, 100));
      expect((await readHistory({ ...asked, state: 'cancelled' })).deliveries).toEqual([]);
    });
  });
});
