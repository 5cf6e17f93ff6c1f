import { expect, it } from 'vitest';
import { type AttemptOutcome, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeWebhookHealth } from '../../../../lambdas/delivery/outcome/webhook-health.ts';
import type { Trigger } from '../../../../lambdas/delivery/outcome/webhook-health-store.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, internalError, noon, success } from '../builders.ts';

const day = 24 * 60 * 60_000;
const pending = aDelivery();
const exhausted = settled(aDelivery({ attempts: [aRecord()] }), 'failed', noon);
const failingFor = (days: number, mark?: number) =>
  aWebhook({ failingSince: noon - days * day, ...(mark !== undefined && { failingMark: mark * day }) });

/** Creates the health tracker with a store that records its calls. */
const healthOver = (fails = false) => {
  const calls: string[] = [];
  const telemetry = fakeTelemetry();
  const step = async (call: string) => {
    calls.push(call);
    if (fails) throw new Error('the store is down');
    return true;
  };
  const store = {
    startedFailing: () => step('startedFailing'),
    recovered: () => step('recovered'),
    announceFailing: (_: unknown, mark: number, { lastResult }: Trigger) =>
      step(`announce ${mark / day} ${lastResult}`),
    suspendGone: () => Promise.reject(new Error('must not be called')),
    suspendFailing: (_: unknown, { lastResult }: Trigger) => step(`suspend ${lastResult}`),
  };
  return { ...makeWebhookHealth({ ...telemetry, store, now: frozenClock().now }), calls, telemetry };
};

it.each<[string, ReturnType<typeof aWebhook>, AttemptOutcome, string[]]>([
  ['the first failure', aWebhook(), failure(), ['startedFailing']],
  ['another failure', failingFor(0.99), failure(), []],
  ['the first failure after a day', failingFor(1), failure(), ['announce 1 http']],
  ['another failure after a day', failingFor(2, 1), failure(), []],
  ['the first failure after four days', failingFor(4, 1), failure(), ['announce 4 http']],
  ['the first failure after both marks', failingFor(4), failure(), ['announce 4 http']],
  ['another failure after four days', failingFor(4.5, 4), failure(), []],
  ['the first success', failingFor(1), success, ['recovered']],
  ['the first success after an announced failure', aWebhook({ announcedSince: 1 }), success, ['recovered']],
  ['another success', aWebhook(), success, []],
  ['an internal error', aWebhook(), internalError(), []],
  ['an attempt that was given up', failingFor(1), { outcome: 'given_up', record: aRecord({ result: 'slow' }) }, []],
])('records the health of a webhook after %s', async (_, webhook, outcome, expected) => {
  const { record, calls } = healthOver();
  await record(webhook, outcome, pending);
  expect(calls).toEqual(expected);
});

it.each([
  ['5 days of failures', failingFor(5), ['suspend http']],
  ['less', failingFor(4.99, 4), []],
  ['no failure', aWebhook(), []],
])('a failed delivery suspends the webhook only after 5 days: %s', async (_, webhook, expected) => {
  const { suspendIfFailing, calls } = healthOver();
  await suspendIfFailing(webhook, exhausted);
  expect(calls).toEqual(expected);
});

it('a failed write of the health is logged and does not affect the outcome', async () => {
  const { record, telemetry } = healthOver(true);
  await record(aWebhook(), failure(), pending);
  expect(telemetry.logged('webhook.health_not_stored')).toBe(1);
});
