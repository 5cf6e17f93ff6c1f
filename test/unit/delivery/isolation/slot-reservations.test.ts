import { describe, expect, it } from 'vitest';
import { makeSlotReservations } from '../../../../lambdas/delivery/isolation/slot-reservations.ts';
import { type StoredSlowness, slownessOf } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';

const slownessAt = (accountId: string, version = 0): StoredSlowness => ({
  ...slownessOf({ accountId, eventName: 'demanda.criada' }, undefined),
  version,
});

/** A store that reserves slots from 1,000 on, 50 apart, one write after another. `answer` replaces what it says. */
const storeThat = (answer?: () => Promise<undefined>) => {
  const writes: { accountId: string; version: number; slots: number }[] = [];
  let next = 1_000;
  const store: Parameters<typeof makeSlotReservations>[0] = {
    async reserve({ accountId, version }, slots) {
      writes.push({ accountId, version, slots });
      const firstAt = next;
      next += slots * 50;
      await new Promise(setImmediate);
      return answer ? answer() : { firstAt, interval: 50, series: 7 };
    },
  };
  return { reserve: makeSlotReservations(store, systemTime.turn), writes };
};

describe('the reservations of a process', () => {
  // Every move wrote the one item that all moves of a webhook share: 24 to 109 moves a second.
  it('are one write for up to ten slots that are asked for together', async () => {
    const { reserve, writes } = storeThat();
    const slots = await Promise.all(Array.from({ length: 23 }, () => reserve(slownessAt('conta-1'))));
    expect(writes.map(({ slots }) => slots)).toEqual([10, 10, 3]);
    expect(slots).toEqual(slots.map((_, at) => ({ at: 1_000 + at * 50, series: 7 })));
  });

  it('reserve nothing that nobody asked for', async () => {
    const { reserve, writes } = storeThat();
    expect(await reserve(slownessAt('conta-1'))).toMatchObject({ at: 1_000 });
    expect(await reserve(slownessAt('conta-1'))).toMatchObject({ at: 1_050 });
    expect(writes.map(({ slots }) => slots)).toEqual([1, 1]);
  });

  it('of one webhook do not wait for those of another', async () => {
    const { reserve, writes } = storeThat();
    await Promise.all(['conta-1', 'conta-2', 'conta-1'].map(accountId => reserve(slownessAt(accountId))));
    expect(writes).toMatchObject([
      { accountId: 'conta-1', slots: 2 },
      { accountId: 'conta-2', slots: 1 },
    ]);
  });

  it('follow what was read last', async () => {
    const { reserve, writes } = storeThat();
    await Promise.all([1, 2, 3].map(version => reserve(slownessAt('conta-1', version))));
    expect(writes).toMatchObject([{ version: 3 }]);
  });

  it('give nobody a slot where the next one is too far off', async () => {
    const { reserve } = storeThat(async () => undefined);
    expect(await Promise.all([1, 2].map(() => reserve(slownessAt('conta-1'))))).toEqual([undefined, undefined]);
  });

  it('fail for all who asked together, and are made again for those who ask later', async () => {
    let isDown = true;
    const { reserve } = storeThat(async () => {
      if (isDown) throw new Error('the store is down');
      return undefined;
    });
    const asked = await Promise.allSettled([1, 2].map(() => reserve(slownessAt('conta-1'))));
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isDown = false;
    await expect(reserve(slownessAt('conta-1'))).resolves.toBeUndefined();
  });
});
