import { describe, expect, it } from 'vitest';
import { type AttemptOutcome, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeWebhookHealth } from '../../../../lambdas/delivery/outcome/webhook-health.ts';
import type { Trigger } from '../../../../lambdas/delivery/outcome/webhook-health-store.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, internalError, noon, success } from '../builders.ts';

const day = 24 * 60 * 60_000;
const gone: AttemptOutcome = { outcome: 'gone', record: aRecord({ status: 410 }) };
const pending = aDelivery();
const exhausted = settled(aDelivery({ attempts: [aRecord()] }), 'failed', noon);
const givenUp: AttemptOutcome = {
  outcome: 'given_up',
  record: aRecord({ result: 'slow', status: null, response: null }),
};
const failingFor = (days: number, mark?: number) =>
  aWebhook({ failingSince: noon - days * day, ...(mark !== undefined && { failingMark: mark * day }) });

/** A store that tells what it was asked, and fails as the test says. */
const healthOver = ({ fails = false } = {}) => {
  const did: string[] = [];
  const telemetry = fakeTelemetry();
  const step =
    <Result>(what: string, result: Result) =>
    async () => {
      did.push(what);
      if (fails) throw new Error('the store is down');
      return result;
    };
  const store = {
    startedFailing: step('startedFailing', true),
    recovered: step('recovered', true),
    announceFailing: (_: unknown, mark: number, told: Trigger) =>
      step(`announce ${mark / day} ${told.lastResult} ${told.deliveryId}`, true)(),
    suspendGone: step('suspend gone', 'suspended' as const),
    suspendFailing: (_: unknown, told: Trigger) => step(`suspend ${told.lastResult} ${told.deliveryId}`, true)(),
  };
  return { ...makeWebhookHealth({ ...telemetry, store, now: frozenClock().now }), did, telemetry };
};

describe('what an attempt says about its webhook', () => {
  it.each([
    ['the first failure', aWebhook(), failure(), pending, ['startedFailing']],
    ['another failure', failingFor(0.99), failure(), pending, []],
    ['the first failure after a day', failingFor(1), failure(), pending, [`announce 1 http ${pending.id}`]],
    ['another one on that day', failingFor(2, 1), failure(), pending, []],
    ['the first failure after four days', failingFor(4, 1), failure(), pending, [`announce 4 http ${pending.id}`]],
    ['the first after both', failingFor(4), failure(), pending, [`announce 4 http ${pending.id}`]],
    ['another one on the fifth day', failingFor(4.5, 4), failure(), exhausted, []],
    ['the first success', failingFor(1), success, pending, ['recovered']],
    ['the first success after an announced failure', aWebhook({ announcedSince: 1 }), success, pending, ['recovered']],
    ['another success', aWebhook(), success, pending, []],
    ['410, which suspended it already', aWebhook(), gone, pending, []],
    ['an internal error', aWebhook(), internalError(), pending, []],
    ['an attempt that was given up', aWebhook(), givenUp, pending, []],
    ['an attempt that was given up, after failures', failingFor(1), givenUp, pending, []],
    ['an attempt that was given up, when its delivery ends', failingFor(5), givenUp, exhausted, []],
  ])('%s', async (_, webhook, outcome, after, expected) => {
    const { record, did } = healthOver();
    await record(webhook, outcome, after);
    expect(did).toEqual(expected);
  });

  it.each([
    ['suspends after 5 days of failures', failingFor(5), [`suspend http ${pending.id}`]],
    ['does not after less', failingFor(4.99, 4), []],
    ['does not without a failure before it', aWebhook(), []],
  ])('that is the last of its delivery %s', async (_, webhook, expected) => {
    const { suspendIfFailing, did } = healthOver();
    await suspendIfFailing(webhook, exhausted);
    expect(did).toEqual(expected);
  });

  it('never costs the outcome: what else cannot be recorded is logged', async () => {
    const { record, telemetry } = healthOver({ fails: true });
    await record(aWebhook(), failure(), pending);
    expect(telemetry.lines.join()).toContain('webhook.health_not_stored');
  });
});
