import { describe, expect, it } from 'vitest';
import type { AttemptRecord, Delivery } from '../../../lambdas/delivery/delivery.ts';
import { audit } from '../../chaos/audit.ts';
import type { PublishedEvent } from '../../chaos/publisher.ts';
import type { ReceiverBehaviour } from '../../chaos/receiver-behaviours.ts';
import { describeChaos } from '../../chaos/report.ts';
import { fullRun, withoutKills } from '../../chaos/run-settings.ts';

const accepted = Date.UTC(2026, 10, 20, 12);
const second = 1_000;
const behaviour: ReceiverBehaviour = {
  name: 'any',
  state: 'delivered',
  results: ['http', 'delivered'],
  retryAfterMs: 10 * second,
  answer: () => {},
};
const attempt = (number: number, at: number, changes: Partial<AttemptRecord>): AttemptRecord => ({
  number,
  startedAt: new Date(accepted + at * second).toISOString(),
  durationMs: 0,
  result: 'http',
  status: 500,
  response: null,
  ...changes,
});
const success = { result: 'delivered', status: 200 } as const;

/** Audits one delivery with these attempts, whose first request arrived at a second. */
const auditOf = (attempts: readonly AttemptRecord[], mostLate = 330 * second, arrivedAt = 0) => {
  const charged = attempts.filter(({ result }) => result === 'http').length;
  const registration = { host: 'r.example.com', eventName: 'demanda.criada', behaviour };
  const event = { deliveryId: 'evt_1', idDemanda: 1, registration } as unknown as PublishedEvent;
  const delivery = { id: 'evt_1', state: 'delivered', attempts, charged, createdAt: accepted } as unknown as Delivery;
  const arrival = {
    behaviour: 0,
    headers: { 'webhook-id': 'evt_1', host: 'r.example.com' },
    body: JSON.stringify({ event: 'demanda.criada', id_demanda: 1 }),
    at: accepted + arrivedAt * second,
    answered: () => 200,
    problem: undefined,
  };
  const { lateness, findings } = audit({
    behaviours: [behaviour],
    published: [event],
    deliveries: new Map([['evt_1', delivery]]),
    arrivals: [arrival],
    schedule: [second, second],
    attemptTimeout: 2_500,
    mostLate,
    at: accepted + 3_600 * second,
  });
  return { lateness: lateness.map(milliseconds => milliseconds / second), findings };
};

describe('the lateness of attempts', () => {
  it('of a first one counts from when the event was accepted to its first request', () => {
    expect(auditOf([attempt(1, 7, success)], undefined, 4).lateness).toEqual([4]);
  });

  it.each<[string, readonly AttemptRecord[], readonly number[]]>([
    ['the schedule', [attempt(1, 0, {}), attempt(2, 3, success)], [0, 2]],
    ['what the receiver asked for', [attempt(1, 0, { status: 503 }), attempt(2, 15, success)], [0, 5]],
    ['the move to the slow lane', [attempt(1, 0, { result: 'slow' }), attempt(2, 200, success)], [0, 200]],
    ['no wait after an internal error', [attempt(1, 0, { result: 'internal' }), attempt(2, 200, success)], [0]],
    [
      'no internal errors of which one record is left',
      [attempt(3, 200, { result: 'internal' }), attempt(4, 500, success)],
      [],
    ],
  ])('counts from %s', (_, attempts, lateness) => {
    expect(auditOf(attempts).lateness).toEqual(lateness);
  });

  it('is a finding where it is over the bound, which is lower where no process dies', () => {
    const attempts = [attempt(1, 0, { result: 'slow' }), attempt(2, 200, success)];
    expect(auditOf(attempts, fullRun.mostLate).findings).toEqual([]);
    expect(auditOf(attempts, withoutKills(fullRun).mostLate).findings).toEqual([
      'evt_1 (any): an attempt was late by 200 s',
    ]);
    expect([fullRun.mostLate, withoutKills(fullRun).mostLate]).toEqual([330 * second, 180 * second]);
    expect(fullRun.limit).toBeGreaterThan(2 * fullRun.mostLate);
  });
});

it('the report of a run says in a line how late the latest attempt was', () => {
  const injected = { kills: 0, killsAtWork: 0, keptByKms: 0, movedToSlowLane: 0, counts: {} };
  const counts = { malformed: 0, deadLettered: 0, republished: 0, announced: 0, seconds: 1 };
  const verdict = (...lateness: number[]) =>
    describeChaos({ ...counts, injected, rows: [], findings: [], lateness, mostLate: 180 * second });
  expect(verdict(5, 179_001)).toContain('Nobody waited over 180 s: the latest attempt was late by 180 s.');
  expect(verdict(5, 180_001, 400_000)).toContain('2 ATTEMPTS WERE OVER 180 s LATE, the latest by 400 s.');
});
