import { describe, expect, it } from 'vitest';
import { makeAdmission } from '../../../../lambdas/delivery/isolation/admission.ts';
import { makeConcurrencyLimit } from '../../../../lambdas/delivery/isolation/concurrency-limit.ts';
import type { Lane } from '../../../../lambdas/delivery/lane-routing.ts';

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
const places = { places: 2, whileQuick: 2, quickFor: 1, awaitedFor: 1, besideOthers: 2, others: 1 };
const admissionIn = (lane: Lane) => makeAdmission({ limit: makeConcurrencyLimit(places, () => 0), lane });
const quickLanes = ['first', 'retry'] as const;

describe('the admission of a message', () => {
  it.each(quickLanes)('ends in the %s lane where its webhook has its places: it is shed', lane => {
    const admit = admissionIn(lane);
    const outcomes = Array.from({ length: 3 }, () => admit(owner, 1).outcome);
    expect(outcomes).toEqual(['admitted', 'admitted', 'shed']);
    expect(admit({ ...owner, eventName: 'demanda.cancelada' }, 1)).toMatchObject({ mayAttempt: true });
    expect(admit({ ...owner, accountId: 'conta-2' }, 1)).toMatchObject({ mayAttempt: true });
  });

  it('has no limit in the slow lane, where each webhook is paced', () => {
    const admit = admissionIn('slow');
    expect(Array.from({ length: 9 }, () => admit(owner, 1))).toEqual(
      Array.from({ length: 9 }, () => expect.objectContaining({ outcome: 'admitted', mayAttempt: true })),
    );
  });
});
