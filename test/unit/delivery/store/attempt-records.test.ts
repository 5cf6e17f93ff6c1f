import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AttemptRecord, settled } from '../../../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../../../lambdas/delivery/failure-causes.ts';
import { packAttempt, unpackAttempt } from '../../../../lambdas/delivery/store/attempt-records.ts';
import { splitResponses } from '../../../../lambdas/delivery/store/response-item.ts';
import type { FailureCause } from '../../../../lambdas/platform/egress/network-error.ts';
import { aDelivery, aRecord, noon } from '../builders.ts';

const day = 24 * 60 * 60_000;

it('a packed attempt is unpacked without changes', () => {
  const record = fc.record({
    number: fc.integer({ min: 1, max: 10_000 }),
    startedAt: fc.integer({ min: -60_000, max: 400 * day }).map(after => new Date(noon + after).toISOString()),
    durationMs: fc.integer({ min: 0, max: 60_000 }),
    result: fc.constantFrom<AttemptRecord['result'][]>(
      ...(['delivered', 'http', 'timeout', 'connection', 'tls', 'dns', 'blocked', 'slow', 'internal'] as const),
    ),
    cause: fc.constant(null),
    status: fc.option(fc.integer({ min: 200, max: 999 })),
  });
  const stored = fc.constantFrom<Pick<AttemptRecord, 'response' | 'responseId'>>(
    ...[{ response: null }, { response: '' }, { response: 'in the head' }, { response: null, responseId: 'Ab3_-E9' }],
  );
  fc.assert(
    fc.property(record, stored, (fields, response) => {
      const one = { ...fields, ...response };
      expect(unpackAttempt(packAttempt(one, noon), noon, 'in the head')).toEqual(one);
    }),
  );
});

it.each(Object.keys(failureCauses) as FailureCause[])('a packed attempt retains its cause: %s', cause => {
  const one = aRecord({ result: failureCauses[cause].results[0], cause, status: null, response: null });
  expect(unpackAttempt(packAttempt(one, noon), noon, '')).toEqual(one);
});

it('a response expires after 60 days, and is not in a head that expires later', () => {
  const ended = settled(aDelivery({ attempts: [aRecord()] }), 'delivered', noon);
  const after = (days: number) => noon / 1_000 + days * 86_400;
  expect(splitResponses(ended, after(30)).responses).toEqual([]);
  expect(splitResponses(ended, after(90)).responses).toMatchObject([{ response: 'oops', ttl: after(60) }]);
});
