import { expect, it } from 'vitest';
import { millisecondsOf, quantitiesOf } from '../../../lab/cost/counts.ts';
import { costOf, costsOf, priceFile } from '../../../lab/cost/prices.ts';

const noCounts = {
  apiRequests: 0,
  invocations: 0,
  megabytes: 0,
  storeCalls: 0,
  readUnits: 0,
  writeUnits: 0,
  queueRequests: 0,
  fairQueueRequests: 0,
  keyRequests: 0,
  logLines: 0,
  logBytes: 0,
  accessLogBytes: 0,
};
const prices = priceFile.regions['us-east-1'];

it('a quantity costs its price each', () => {
  // 1,000,000 × $0.625 per million, and 2,000,000 × $0.125 per million
  expect(costOf({ writeUnit: 1e6, readUnit: 2e6 }, prices)).toBeCloseTo(0.625 + 0.25, 9);
  expect(costsOf({ key: 2, alarm: 10 }, prices)).toEqual({ key: 2, alarm: 1 });
});

it('a login is its request, an invocation of 65 ms at 1,769 MB, its units and its log', () => {
  const login = {
    ...noCounts,
    apiRequests: 1,
    invocations: 1,
    megabytes: 1769,
    storeCalls: 4,
    readUnits: 6,
    writeUnits: 3,
  };
  const quantities = quantitiesOf('login', { ...login, logLines: 2, logBytes: 833, accessLogBytes: 337 });
  expect(quantities.gigabyteSecond).toBeCloseTo(0.11229, 6); // (30 ms × 1.5 + 4 calls × 5 ms) × 1769 / 1024
  expect(quantities.logGigabyte).toBeCloseTo(1_248e-9, 15); // 833 and 337, and 26 bytes more for each of three lines
  // 1.00 + 0.20 + 1.4972 + 1.875 + 0.75 + 0.624
  expect(1e6 * costOf(quantities, prices)).toBeCloseTo(5.9462, 3);
});

it('a delivery waits for the receiver, and needs longer on the share of a processor that its memory buys', () => {
  const batch = { ...noCounts, invocations: 1, megabytes: 1_024, storeCalls: 2 };
  expect(millisecondsOf('quiet', batch)).toBeCloseTo(200 + (6 * 1.5 * 1_769) / 1_024 + 2 * 5, 9);
});
