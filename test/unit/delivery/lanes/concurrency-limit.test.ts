import { beforeEach, describe, expect, it } from 'vitest';
import {
  fastLaneSlots,
  makeConcurrencyLimit,
  slowLaneSlots,
} from '../../../../lambdas/delivery/lanes/concurrency-limit.ts';

let moment: number;
let limit: ReturnType<typeof makeConcurrencyLimit>;
beforeEach(() => {
  moment = 0;
  limit = makeConcurrencyLimit(fastLaneSlots, 300, () => moment);
});

/** Acquires up to `max` slots for a key. Returns the functions that free the slots. */
const fill = (key: string, max = 1_000) =>
  Array.from({ length: max }, () => limit.acquire(key)).filter(release => release !== undefined);
/** Finishes this many messages of a key at once, while one message remains in flight. */
const finish = (key: string, count: number) => {
  const [releaseFirst] = fill(key, 1);
  for (let number = 0; number < count; number++) fill(key, 1)[0]?.();
  return releaseFirst;
};

describe('the number of slots for a webhook in a fast lane', () => {
  it('is 25, or 5 if others have ten messages in flight', () => {
    fill('another', 9);
    expect(fill('one')).toHaveLength(25);
    expect(fill('third')).toHaveLength(5);
  });

  it.each([
    [1, 26],
    [75, 100],
    [1_000, 100],
  ])('increases with each finished message: after %s messages it is %s', (count, share) => {
    finish('one', count);
    expect(fill('one')).toHaveLength(share - 1);
  });

  it('decreases with the messages of others in flight, to 5 for ten', () => {
    finish('one', 75);
    fill('another', 4);
    expect(fill('one', 70)).toHaveLength(70 - 1);
    fill('another', 1);
    finish('third', 75);
    expect(fill('third')).toHaveLength(5 - 1);
  });

  it('is 25 again after a message has been in flight for more than 500 ms', () => {
    const release = finish('one', 75);
    fill('one', 50);
    moment += 500;
    expect(fill('one', 1)).toHaveLength(1);
    moment += 1;
    expect(fill('one')).toHaveLength(0);
    release?.();
    expect(fill('one')).toHaveLength(0);
  });

  it('is 25 again once no message is in flight', () => {
    finish('one', 75)?.();
    expect(fill('one')).toHaveLength(25);
  });
});

it('a process with a single webhook receives as many messages as the webhook has slots, or more after 100 ms', () => {
  expect(limit.hasCapacityFor(10)).toBe(true);
  fill('one', 15);
  expect([10, 11].map(limit.hasCapacityFor)).toEqual([true, false]);
  moment += 100;
  expect(limit.hasCapacityFor(11)).toBe(false);
  moment += 1;
  expect(limit.hasCapacityFor(11)).toBe(true);
  moment -= 1;
  fill('another', 1);
  expect(limit.hasCapacityFor(11)).toBe(true);
});

it.each([
  [2, 1, 50, 60],
  [2, 10, 35, 42],
  [2, 400, 1, 2],
  [20, 1, 5, 6],
  [20, 100, 3, 4],
  [31, 1, 2, 3],
  [60, 1, 1, 2],
])(
  'in a slow lane of %i processes with %i webhooks, each webhook has %i slots per process, or %i on request',
  (...numbers) => {
    const [processes, webhooks, ...expected] = numbers;
    const webhook = { webhooks, othersInFlight: 0, finished: 0, isQuick: true };
    const shares = [false, true].map(isRequested => slowLaneSlots(processes)({ ...webhook, isRequested }));
    expect(shares).toEqual(expected);
  },
);

it('the webhooks that share a slow lane include the new webhook', () => {
  limit = makeConcurrencyLimit(slowLaneSlots(1), 500, () => 0);
  for (const key of ['a', 'b', 'c']) limit.acquire(key);
  expect(fill('d', 200)).toHaveLength(87);
});

describe('a process is busy', () => {
  it('for a webhook that uses all its slots, and for all webhooks if it has stopped receiving', () => {
    fill('one', 24);
    expect([limit.isBusy('one'), limit.isBusy('one', true)]).toEqual([false, true]);
    fill('one', 1);
    expect([limit.isBusy('one'), limit.isBusy('another')]).toEqual([true, false]);
  });

  it('for all webhooks if a tenth of its capacity is occupied', () => {
    for (let at = 0; at < 29; at++) limit.acquire(`webhook ${at}`);
    expect(limit.isBusy('another')).toBe(false);
    limit.acquire('webhook 29');
    expect(limit.isBusy('another')).toBe(true);
  });
});
