import { describe, expect, it } from 'vitest';
import type { AttemptRecord, Delivery } from '../../../lambdas/delivery/delivery.ts';
import { audit, type Evidence } from '../../chaos/audit.ts';
import { missingOf } from '../../chaos/fault-injection.ts';
import { fullRun } from '../../chaos/fault-settings.ts';
import type { PublishedEvent } from '../../chaos/publisher.ts';
import { receiverBehaviours } from '../../chaos/receiver-behaviours.ts';
import type { Arrival } from '../../chaos/receivers.ts';

const now = Date.UTC(2026, 10, 20, 12);
const second = 1_000;
const [behaviour] = receiverBehaviours;
const registration = {
  ...{ behaviour, host: 'r.example.com', eventName: 'demanda.criada' },
  ...{ authorization: 'Bearer password', secret: 'whsec_key' },
};
const event = { deliveryId: 'evt_1', idDemanda: 1, registration } as unknown as PublishedEvent;
const attempt = (result: string, number = 1) => ({ number, result, durationMs: 5 }) as AttemptRecord;
const delivery = (changes: Partial<Delivery>) =>
  ({ id: 'evt_1', state: 'delivered', internalErrors: 0, attempts: [attempt('delivered')], ...changes }) as Delivery;
const arrival: Arrival = {
  deliveryId: 'evt_1',
  host: 'r.example.com',
  authorization: 'Bearer password',
  body: '{"event":"demanda.criada","id_demanda":1}',
};

/** Audits one event that was delivered at once, and what is otherwise. */
const auditOf = (changes: Partial<Evidence>) =>
  audit({
    ...{ published: [event], deliveries: new Map([['evt_1', delivery({})]]), arrivals: [arrival] },
    ...{ followed: 0, deadLetters: 0, log: '{"message":"delivery.attempt"}', mayWait: true, at: now, ...changes },
  });
const stored = (changes: Partial<Delivery>) => ({ deliveries: new Map([['evt_1', delivery(changes)]]) });
const pending = (internalErrors: number, dueIn: number, sweptIn: number) =>
  stored({
    ...{ state: 'pending', internalErrors, attempts: [] },
    wait: { nextAttemptAt: now + dueIn * second, sweepAt: now + sweptIn * second, overdueCount: 0 },
  });

describe('the audit', () => {
  it.each<[string, Partial<Evidence>]>([
    ['was delivered at once', {}],
    ['came twice', { arrivals: [arrival, arrival] }],
    ['took several attempts', stored({ attempts: ['internal', 'slow', 'timeout', 'delivered'].map(attempt) })],
  ])('finds nothing where an event %s', (_, changes) => {
    const { rows, findings } = auditOf(changes);
    expect(findings).toEqual([]);
    expect(rows[0]).toMatchObject({ published: 1, delivered: 1, waiting: 0 });
  });

  it.each<[string, Partial<Evidence>]>([
    ['for a minute after an internal error', pending(1, 60, 120)],
    ['for the sweeper, since its message is lost', pending(0, -3, 120)],
  ])('counts an event that waits %s, and calls it lost only where the run waited for it', (_, changes) => {
    const { rows, findings } = auditOf(changes);
    expect(findings).toEqual([]);
    expect(rows[0]).toMatchObject({ published: 1, delivered: 0, waiting: 1 });
    const lost = 'LOST evt_1 (204): pending, not delivered: no attempt';
    expect(auditOf({ ...changes, mayWait: false }).findings).toEqual([lost]);
  });

  it.each<[string, Partial<Evidence>, string]>([
    ['is not stored', { deliveries: new Map() }, 'LOST evt_1 (204): not stored, not delivered: no attempt'],
    [
      'ends in another state',
      stored({ state: 'failed' }),
      'LOST evt_1 (204): failed, not delivered: delivered in 5 ms',
    ],
    ['is said to be delivered and never came', { arrivals: [] }, 'LOST evt_1 (204): delivered, not delivered'],
    ['is due, and nobody looks at it', pending(0, -300, -3), 'LOST evt_1 (204): pending, not delivered: no attempt'],
    ['waits though nothing keeps it', pending(0, 60, 120), 'LOST evt_1 (204): pending, not delivered: no attempt'],
    [
      'fails otherwise than by its receiver',
      stored({ attempts: [attempt('tls'), attempt('delivered', 2)] }),
      'evt_1 (204): attempt 1 ended as tls',
    ],
    ['was stored, and nobody published it', { published: [], arrivals: [] }, 'delivery evt_1: nobody published it'],
    [
      'came, and nobody published it',
      { arrivals: [arrival, { ...arrival, deliveryId: 'evt_2' }] },
      'arrival of evt_2: nobody published it',
    ],
    [
      'came to another host',
      { arrivals: [{ ...arrival, host: 'other.example.com' }] },
      'arrival of evt_1: it came to other.example.com',
    ],
    [
      'came with the authorization of another',
      { arrivals: [{ ...arrival, authorization: 'Bearer other' }] },
      'arrival of evt_1: the authorization is not the registered one',
    ],
    [
      'came with the body of another',
      { arrivals: [{ ...arrival, body: '{"event":"demanda.criada","id_demanda":2}' }] },
      'arrival of evt_1: the body is another event’s',
    ],
    ['followed a redirect', { followed: 1 }, '1 redirects were followed'],
    ['became a dead letter', { deadLetters: 1 }, '1 messages are in the dead-letter queue'],
    ['left a secret in the log', { log: 'key whsec_key' }, "1 secrets or payloads are in the run's log"],
    ['left a password in the log', { log: '"Bearer password"' }, "1 secrets or payloads are in the run's log"],
    ['left a payload in the log', { log: '{"id_demanda":1}' }, "1 secrets or payloads are in the run's log"],
  ])('finds an event that %s', (_, changes, finding) => {
    expect(auditOf(changes).findings).toEqual([expect.stringContaining(finding)]);
  });
});

it('a run misses each fault that did not happen, and kills', () => {
  const counts = { refusedSends: 0, failedKeyUses: 3 };
  expect(missingOf(fullRun.faults, { kills: 9, killsAtWork: 9, counts })).toEqual([
    'no refusedSends happened',
    '9 processes were killed, not 10',
  ]);
  expect(missingOf(fullRun.faults, { kills: 10, killsAtWork: 9, counts: { refusedSends: 1 } })).toEqual([]);
});
