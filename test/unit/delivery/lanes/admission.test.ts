import { describe, expect, it } from 'vitest';
import { type Lane, lanes } from '../../../../lambdas/delivery/lane-routing.ts';
import { makeAdmission } from '../../../../lambdas/delivery/lanes/admission.ts';
import { makeConcurrencyLimit, slowLanePlaces } from '../../../../lambdas/delivery/lanes/concurrency-limit.ts';

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
/** The admission of a process in which each webhook has two places. */
const admissionIn = (lane: Lane) => {
  const limit = makeConcurrencyLimit(
    () => 2,
    300,
    () => 0,
  );
  return makeAdmission({ limit, lane });
};

describe('the admission of a message', () => {
  it.each(lanes)('ends in the %s lane where its webhook has its places: it is shed', lane => {
    const admit = admissionIn(lane);
    const outcomes = Array.from({ length: 3 }, () => admit(owner, 1).outcome);
    expect(outcomes).toEqual(['admitted', 'admitted', 'shed']);
    expect(admit({ ...owner, eventName: 'demanda.cancelada' }, 1)).toMatchObject({ mayAttempt: true });
    expect(admit({ ...owner, accountId: 'conta-2' }, 1)).toMatchObject({ mayAttempt: true });
  });

  it.each([
    ['first', 5],
    ['retry', 5],
    ['slow', 3],
  ] as const)('in the %s lane is given without an attempt at receive %i', (lane, receive) => {
    const admit = admissionIn(lane);
    for (let taken = 0; taken < 2; taken++) admit(owner, 1);
    expect(admit(owner, receive - 1)).toEqual({ outcome: 'shed' });
    expect(admit(owner, receive)).toMatchObject({ outcome: 'admitted', mayAttempt: false });
  });

  it('has places of its own in the slow lane if somebody asked for the attempt, and is shed until one is free', () => {
    const limit = makeConcurrencyLimit(slowLanePlaces(20), 500, () => 0);
    const admit = makeAdmission({ limit, lane: 'slow' });
    for (let taken = 0; taken < 5; taken++) expect(admit(owner, 1)).toMatchObject({ mayAttempt: true });
    expect(admit(owner, 1)).toEqual({ outcome: 'shed' });
    const asked = admit(owner, 1, true);
    expect(asked).toMatchObject({ mayAttempt: true });
    expect(admit(owner, 100, true)).toEqual({ outcome: 'shed' });
    if (asked.outcome === 'admitted') asked.leave();
    expect(admit(owner, 101, true)).toMatchObject({ mayAttempt: true });
  });
});
