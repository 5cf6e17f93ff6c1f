import { expect, it } from 'vitest';
import { makeScaling } from '../../../../local/event-sources/scaling.ts';

/** Scaling, and what lets time pass: each place is taken as soon as it is there. */
const busyPlaces = (most: number) => {
  let moment = 0;
  const places = makeScaling(most, () => moment);
  const pass = (milliseconds: number): void => {
    for (const end = moment + milliseconds; ; ) {
      const left = places.untilMore();
      if (left === undefined || moment + left > end) {
        moment = end;
        return;
      }
      moment += left;
      places.addOne();
      places.received(places.count, true);
    }
  };
  return { places, pass };
};

it('begins with five batches at once, and never has more than the maximum', () => {
  expect(makeScaling(50).count).toBe(5);
  expect(makeScaling(Number.POSITIVE_INFINITY).count).toBe(5);
  const { places, pass } = busyPlaces(2);
  expect(places.count).toBe(2);
  pass(60_000);
  expect(places.count).toBe(2);
});

it('grows by five a second while messages remain, up to the maximum', () => {
  const { places, pass } = busyPlaces(50);
  pass(1_000);
  expect(places.count).toBe(10);
  pass(5_000);
  expect(places.count).toBe(35);
  pass(5_000);
  expect(places.count).toBe(50);
});

it('keeps what is in use when a receipt has emptied the queue, and the five at least', () => {
  const { places, pass } = busyPlaces(50);
  pass(4_000);
  expect(places.count).toBe(25);
  places.received(12, false);
  expect(places.count).toBe(12);
  pass(100);
  places.received(3, false);
  expect(places.count).toBe(5);
});

it('begins anew with the first batch after a pause', () => {
  const { places, pass } = busyPlaces(50);
  pass(2_000);
  places.received(1, true);
  expect(places.count).toBe(5);
  expect(places.untilMore()).toBe(200);
});
