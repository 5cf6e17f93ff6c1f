import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../../lambdas/delivery/delivery.ts';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeNoteHealth } from '../../../../lambdas/delivery/worker/health-notes.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, noon, ownFault, success } from '../builders.ts';

const day = 24 * 60 * 60_000;
const gone: AttemptOutcome = { outcome: 'gone', record: aRecord({ status: 410 }) };
const pending = aDelivery();
const exhausted = settled(aDelivery(), 'failed', noon);
const givenUp: AttemptOutcome = {
  outcome: 'given_up',
  record: aRecord({ result: 'slow', status: null, response: null }),
};
const failingFor = (days: number, mark?: number) =>
  aWebhook({ failingSince: noon - days * day, ...(mark !== undefined && { failingMark: mark * day }) });

const notes = ({ fails = false } = {}) => {
  const did: string[] = [];
  const telemetry = fakeTelemetry();
  const step = (what: string) => async () => {
    did.push(what);
    if (fails) throw new Error('the store is down');
    return true;
  };
  const health = {
    startedFailing: step('startedFailing'),
    recovered: step('recovered'),
    announceFailing: (_: unknown, mark: number, result: string) => step(`announce ${mark / day} ${result}`)(),
    suspendGone: async () => 'suspended' as const,
    suspendFailing: (_: unknown, result: string) => step(`suspend ${result}`)(),
  };
  return { note: makeNoteHealth({ ...telemetry, health, now: frozenClock().now }), did, ...telemetry };
};

describe('what an attempt says about its webhook', () => {
  it.each([
    ['the first failure', aWebhook(), failure(), pending, ['startedFailing']],
    ['another failure', failingFor(0.99), failure(), pending, []],
    ['the first failure after a day', failingFor(1), failure(), pending, ['announce 1 http']],
    ['another one on that day', failingFor(2, 1), failure(), pending, []],
    ['the first failure after four days', failingFor(4, 1), failure(), pending, ['announce 4 http']],
    ['the first after both', failingFor(4), failure(), pending, ['announce 4 http']],
    ['another one on the fifth day', failingFor(4.5, 4), failure(), exhausted, []],
    ['the first success', failingFor(1), success, pending, ['recovered']],
    ['another success', aWebhook(), success, pending, []],
    ['410, which suspended it already', aWebhook(), gone, pending, []],
    ['our own fault', aWebhook(), ownFault(), pending, []],
    ['an attempt that was given up', aWebhook(), givenUp, pending, []],
    ['an attempt that was given up, after failures', failingFor(1), givenUp, pending, []],
    ['an attempt that was given up, when its delivery ends', failingFor(5), givenUp, exhausted, []],
    ['exhaustion after 5 days of failure', failingFor(5), failure(), exhausted, ['suspend http']],
    ['exhaustion after less', failingFor(4.99, 4), failure(), exhausted, []],
    ['5 days of failure without exhaustion', failingFor(5, 4), failure(), pending, []],
  ])('%s', async (_, webhook, outcome, after, expected) => {
    const { note, did } = notes();
    await note(webhook, outcome, after);
    expect(did).toEqual(expected);
  });

  it('counts a suspension', async () => {
    const { note, counts, lines } = notes();
    await note(failingFor(5), failure(), exhausted);
    expect(counts).toEqual({ WebhookSuspended: 1 });
    expect(lines.join()).toContain('webhook.suspended');
  });

  it('is not worth an outcome: what cannot be noted is logged', async () => {
    const { note, lines } = notes({ fails: true });
    await note(aWebhook(), failure(), pending);
    expect(lines.join()).toContain('webhook.health_not_stored');
  });
});
