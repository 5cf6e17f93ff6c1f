import { expect, it } from 'vitest';
import { type AttemptOutcome, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeWebhookHealth } from '../../../../lambdas/delivery/outcome/webhook-health.ts';
import type { Trigger } from '../../../../lambdas/delivery/outcome/webhook-health-store.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, internalError, noon, success } from '../builders.ts';

/* When operators are notified, and when a webhook is suspended (`docs/delivery.md`: 24 h, 4 days, 5 days without a success). */

const day = 24 * 60 * 60_000;
const pending = aDelivery();
const exhausted = settled(aDelivery({ attempts: [aRecord()] }), 'failed', noon);
const failingFor = (days: number, mark?: number) =>
  aWebhook({ failingSince: noon - days * day, ...(mark !== undefined && { failingMark: mark * day }) });

/** The health over a store that records what it is asked. */
const healthOver = (fails = false) => {
  const asked: string[] = [];
  const telemetry = fakeTelemetry();
  const step = async (what: string) => {
    asked.push(what);
    if (fails) throw new Error('the store is down');
    return true;
  };
  const store = {
    startedFailing: () => step('startedFailing'),
    recovered: () => step('recovered'),
    announceFailing: (_: unknown, mark: number, { lastResult }: Trigger) =>
      step(`announce ${mark / day} ${lastResult}`),
    suspendGone: () => Promise.reject(new Error('not asked')),
    suspendFailing: (_: unknown, { lastResult }: Trigger) => step(`suspend ${lastResult}`),
  };
  return { ...makeWebhookHealth({ ...telemetry, store, now: frozenClock().now }), asked, telemetry };
};

it.each<[string, ReturnType<typeof aWebhook>, AttemptOutcome, string[]]>([
  ['the first failure', aWebhook(), failure(), ['startedFailing']],
  ['another failure', failingFor(0.99), failure(), []],
  ['the first failure after a day', failingFor(1), failure(), ['announce 1 http']],
  ['another failure after a day', failingFor(2, 1), failure(), []],
  ['the first failure after four days', failingFor(4, 1), failure(), ['announce 4 http']],
  ['the first failure after both', failingFor(4), failure(), ['announce 4 http']],
  ['another failure after four days', failingFor(4.5, 4), failure(), []],
  ['the first success', failingFor(1), success, ['recovered']],
  ['the first success after an announced failure', aWebhook({ announcedSince: 1 }), success, ['recovered']],
  ['another success', aWebhook(), success, []],
  ['our own fault', aWebhook(), internalError(), []],
  ['an attempt that was given up', failingFor(1), { outcome: 'given_up', record: aRecord({ result: 'slow' }) }, []],
])('the health of a webhook after %s is recorded', async (_, webhook, outcome, expected) => {
  const { record, asked } = healthOver();
  await record(webhook, outcome, pending);
  expect(asked).toEqual(expected);
});

it.each([
  ['5 days of failures', failingFor(5), ['suspend http']],
  ['less', failingFor(4.99, 4), []],
  ['no failure', aWebhook(), []],
])('the last failure of a delivery suspends after 5 days of failures: after %s', async (_, webhook, expected) => {
  const { suspendIfFailing, asked } = healthOver();
  await suspendIfFailing(webhook, exhausted);
  expect(asked).toEqual(expected);
});

it('a health that cannot be recorded is logged, and the outcome is kept', async () => {
  const { record, telemetry } = healthOver(true);
  await record(aWebhook(), failure(), pending);
  expect(telemetry.logged('webhook.health_not_stored')).toBe(1);
});
