import { expect, it } from 'vitest';
import { quantitiesOf } from '../../../lab/cost/counts.ts';
import { costOf, costsOf, priceFile } from '../../../lab/cost/prices.ts';

const prices = priceFile.regions['us-east-1'];

it('a quantity costs its price each', () => {
  // 1,000,000 × $0.625 per million, and 2,000,000 × $0.125 per million
  expect(costOf({ writeUnit: 1e6, readUnit: 2e6 }, prices)).toBeCloseTo(0.625 + 0.25, 9);
  expect(costsOf({ key: 2, alarm: 10 }, prices)).toEqual({ key: 2, alarm: 1 });
});

it('a login is its request, an invocation of 90 ms at 1,769 MB, its units and its log', () => {
  const login = { apiRequests: 1, invocations: 1, megabytes: 1769, storeCalls: 4, readUnits: 6, writeUnits: 3 };
  const none = { queueRequests: 0, fairQueueRequests: 0, keyRequests: 0 };
  const quantities = quantitiesOf('login', { ...login, ...none, logLines: 2, logBytes: 833 });
  expect(quantities.gigabyteSecond).toBeCloseTo(0.155479, 6); // 0.09 s × 1769 / 1024
  expect(quantities.logGigabyte).toBeCloseTo(885e-9, 15); // 833, and 26 bytes more for each of two lines
  // 1.00 + 0.20 + 2.0731 + 1.875 + 0.75 + 0.4425
  expect(1e6 * costOf(quantities, prices)).toBeCloseTo(6.3406, 3);
});
