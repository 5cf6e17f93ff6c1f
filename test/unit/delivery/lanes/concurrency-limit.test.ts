import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  fastLanePlaces,
  makeConcurrencyLimit,
  slowLanePlaces,
} from '../../../../lambdas/delivery/lanes/concurrency-limit.ts';

let moment: number;
let limit: ReturnType<typeof makeConcurrencyLimit>;
beforeEach(() => {
  moment = 0;
  limit = makeConcurrencyLimit(fastLanePlaces, 300, () => moment);
});

/** Enters a key as often as it is let in, at most `most` times. Returns the functions that leave its places. */
function fill(key: string, most = 1_000): (() => void)[] {
  return Array.from({ length: most }, () => limit.enter(key)).filter(leave => leave !== undefined);
}

/** Fills a key's places, and leaves them again after so many milliseconds. Returns how many they were. */
function pass(key: string, milliseconds: number): number {
  const taken = fill(key);
  moment += milliseconds;
  for (const leave of taken) leave();
  return taken.length;
}

describe('the places of a key under a concurrency limit', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const [leave] = fill('one', 1);
    expect(fill('one')).toHaveLength(24);
    moment += 501;
    leave?.();
    expect(fill('one')).toHaveLength(1);
  });

  it('are nobody else’s', () => {
    fill('one');
    expect(limit.enter('another')).toBeDefined();
  });

  // Fifty webhooks that hung at the same moment had all places of all processes.
  it('are fewer beside others: a burst of many webhooks leaves room for further ones', () => {
    const taken = Array.from({ length: 50 }, (_, webhook) => fill(`webhook ${webhook}`).length);
    expect(taken.slice(0, 3)).toEqual([25, 5, 5]);
    expect(taken.reduce((sum, number) => sum + number, 0)).toBe(25 + 49 * 5);
  });

  it('are as many as ever while others have few', () => {
    fill('another', 9);
    expect(fill('one')).toHaveLength(25);
  });

  it('are as many as ever again once the others have left', () => {
    const others = fill('another', 10);
    expect(fill('one')).toHaveLength(5);
    others[0]?.();
    expect(fill('one')).toHaveLength(20);
  });
});

describe('the places of a key that is quick', () => {
  /** Has the key finish so many, each within a moment, while one place stays taken. */
  function finish(key: string, count: number): () => void {
    const [stays] = fill(key, 1);
    for (let number = 0; number < count; number++) fill(key, 1)[0]?.();
    return stays ?? (() => undefined);
  }

  // Of 10,320 events of one healthy webhook 6,601 were shed at their first receive.
  it.each([
    [1, 26],
    [10, 35],
    [75, 100],
    [1_000, 100],
  ])('are one more for each that it has finished: after %s they are %s', (count, all) => {
    finish('one', count);
    expect(fill('one')).toHaveLength(all - 1);
  });

  it('are lost at once where something is in flight for longer than half a second', () => {
    finish('one', 75);
    fill('one', 50);
    moment += 500;
    expect(fill('one', 1)).toHaveLength(1);
    moment += 1;
    expect(fill('one')).toHaveLength(0);
  });

  it('have to be earned anew after that', () => {
    const leave = finish('one', 75);
    moment += 501;
    leave();
    expect(fill('one')).toHaveLength(25);
  });

  it('are lost with what others take', () => {
    finish('one', 75);
    fill('another', 4);
    expect(fill('one')).toHaveLength(70 - 1);
  });

  it('are those of all beside many others', () => {
    finish('one', 75);
    fill('another', 10);
    expect(fill('one')).toHaveLength(5 - 1);
  });

  it('are never earned by one that hangs, whatever it has in flight', () => {
    expect([pass('one', 15_000), pass('one', 15_000), pass('one', 15_000)]).toEqual([25, 25, 25]);
  });

  it('are forgotten with the last that it has in flight', () => {
    finish('one', 75)();
    expect(fill('one')).toHaveLength(25);
  });
});

describe('a concurrency limit has room', () => {
  it('where nothing is in flight, or what several keys have', () => {
    expect(limit.hasRoomFor(10)).toBe(true);
    fill('one');
    fill('another', 1);
    expect(limit.hasRoomFor(10)).toBe(true);
  });

  it('for as many as the only key has places, while it may soon leave some', () => {
    fill('one', 15);
    expect([10, 11].map(limit.hasRoomFor)).toEqual([true, false]);
    const [leave] = fill('one', 1);
    expect([9, 10].map(limit.hasRoomFor)).toEqual([true, false]);
    leave?.();
    expect([11, 12].map(limit.hasRoomFor)).toEqual([true, false]); // it has earned one
  });

  // Others may wait behind the messages of a webhook that hangs.
  it('again once the only key has something in flight for longer than that', () => {
    fill('one');
    moment += 100;
    expect(limit.hasRoomFor(1)).toBe(false);
    moment += 1;
    expect(limit.hasRoomFor(10)).toBe(true);
  });
});

describe('the places of a webhook in the slow lane', () => {
  it.each([
    [2, 1, 50, 60],
    [2, 6, 50, 60],
    [2, 10, 35, 42],
    [2, 400, 1, 2],
    [20, 1, 5, 6],
    [20, 100, 3, 4],
    [31, 1, 2, 3],
    [60, 1, 1, 2],
  ])('of %i processes where %i webhooks are in flight are %i, and %i for what is asked for', (...numbers) => {
    const [processes, webhooks, ...expected] = numbers;
    const webhook = { webhooks, ofOthers: 0, finished: 0, isQuick: true };
    const places = [false, true].map(isAskedFor => slowLanePlaces(processes)({ ...webhook, isAskedFor }));
    expect(places).toEqual(expected);
  });

  it('count those that have messages in flight, and itself', () => {
    const slow = makeConcurrencyLimit(slowLanePlaces(1), 500, () => 0);
    for (const key of ['a', 'b', 'c']) slow.enter(key);
    expect(Array.from({ length: 200 }, () => slow.enter('d')).filter(leave => leave !== undefined)).toHaveLength(87);
  });
});

describe('a process is busy', () => {
  it('for a webhook that has all of its places', () => {
    expect(limit.isBusy('one')).toBe(false);
    fill('one', 24);
    expect(limit.isBusy('one')).toBe(false);
    fill('one', 1);
    expect([limit.isBusy('one'), limit.isBusy('another')]).toEqual([true, false]);
  });

  it('if it has stopped receiving', () => {
    fill('one', 1);
    expect([limit.isBusy('one'), limit.isBusy('one', true)]).toEqual([false, true]);
  });

  it('for all where a tenth of its places are taken', () => {
    for (let at = 0; at < 29; at++) limit.enter(`webhook ${at}`);
    expect(limit.isBusy('another')).toBe(false);
    limit.enter('webhook 29');
    expect(limit.isBusy('another')).toBe(true);
  });
});

describe('whatever happens', () => {
  const steps = fc.array(
    fc.record({
      key: fc.constantFrom('one', 'another', 'third'),
      does: fc.constantFrom('enters', 'leaves', 'waits'),
      times: fc.integer({ min: 1, max: 60 }),
    }),
    { maxLength: 60 },
  );

  it('a key has no more than its places, and no place is lost', () => {
    fc.assert(
      fc.property(steps, taken => {
        moment = 0;
        limit = makeConcurrencyLimit(fastLanePlaces, 300, () => moment);
        const inFlight = new Map<string, (() => void)[]>();
        for (const { key, does, times } of taken) {
          const of = inFlight.get(key) ?? [];
          inFlight.set(key, of);
          if (does === 'waits') moment += times * 10;
          if (does === 'enters') of.push(...fill(key, times));
          if (does === 'leaves') for (const leave of of.splice(0, times)) leave();
          expect(of.length).toBeLessThanOrEqual(100);
        }
        for (const leave of [...inFlight.values()].flat()) leave();
        for (const key of inFlight.keys()) expect(pass(key, 1)).toBe(25);
      }),
    );
  });
});
