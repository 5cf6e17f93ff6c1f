import { describe, expect, it } from 'vitest';
import { type AttemptOutcome, settled } from '../../../../lambdas/delivery/delivery.ts';
import type { Told } from '../../../../lambdas/delivery/store/webhook-health-store.ts';
import { makeWebhookHealth } from '../../../../lambdas/delivery/worker/webhook-health.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, internalError, noon, success } from '../builders.ts';

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

/** A store that tells what it was asked, and fails or suspends as the test says. */
const healthOver = ({
  fails = false,
  suspended = 'suspended' as 'suspended' | 'suspended_already' | 'replaced',
} = {}) => {
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
    announceFailing: (_: unknown, mark: number, told: Told) =>
      step(`announce ${mark / day} ${told.lastResult} ${told.deliveryId}`, true)(),
    suspendGone: step('suspend gone', suspended),
    suspendFailing: (_: unknown, told: Told) => step(`suspend ${told.lastResult} ${told.deliveryId}`, true)(),
  };
  return { ...makeWebhookHealth({ ...telemetry, store, now: frozenClock().now }), did, telemetry };
};

describe('a 410', () => {
  it('suspends the webhook, counted once', async () => {
    const { suspendIfGone, telemetry } = healthOver();
    expect(await suspendIfGone(aWebhook(), gone, pending.id)).toEqual(gone);
    expect(telemetry.counts).toEqual({ WebhookSuspended: 1 });
    expect(telemetry.lines.join()).toContain('webhook.suspended');
  });

  it('of a webhook that is suspended already holds its delivery all the same', async () => {
    const { suspendIfGone, telemetry } = healthOver({ suspended: 'suspended_already' });
    expect(await suspendIfGone(aWebhook(), gone, pending.id)).toEqual(gone);
    expect(telemetry.counts).toEqual({});
  });

  it('of an earlier URL or registration is a failure like any other', async () => {
    const { suspendIfGone, telemetry } = healthOver({ suspended: 'replaced' });
    const outcome = await suspendIfGone(aWebhook(), gone, pending.id);
    expect(outcome).toMatchObject({ outcome: 'failed', retryAfterMs: undefined, record: gone.record });
    expect(telemetry.counts).toEqual({});
  });

  it('whose suspension cannot be stored brings its message back: nobody would ever ask the receiver again', async () => {
    const { suspendIfGone } = healthOver({ fails: true });
    await expect(suspendIfGone(aWebhook(), gone, pending.id)).rejects.toThrow('the store is down');
  });

  it.each([success, failure(), internalError()])('is the only outcome that suspends at once', async outcome => {
    const { suspendIfGone, did } = healthOver();
    expect(await suspendIfGone(aWebhook(), outcome, pending.id)).toBe(outcome);
    expect(did).toEqual([]);
  });
});

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
    ['exhaustion after 5 days of failure', failingFor(5), failure(), exhausted, [`suspend http ${pending.id}`]],
    ['exhaustion after less', failingFor(4.99, 4), failure(), exhausted, []],
    ['5 days of failure without exhaustion', failingFor(5, 4), failure(), pending, []],
  ])('%s', async (_, webhook, outcome, after, expected) => {
    const { record, did } = healthOver();
    await record(webhook, outcome, after);
    expect(did).toEqual(expected);
  });

  it('counts a suspension', async () => {
    const { record, telemetry } = healthOver();
    await record(failingFor(5), failure(), exhausted);
    expect(telemetry.counts).toEqual({ WebhookSuspended: 1 });
    expect(telemetry.lines.join()).toContain('webhook.suspended');
  });

  it('brings the message back where the suspension after five days cannot be stored', async () => {
    const { record } = healthOver({ fails: true });
    await expect(record(failingFor(5), failure(), exhausted)).rejects.toThrow('the store is down');
  });

  it('never costs the outcome: what else cannot be recorded is logged', async () => {
    const { record, telemetry } = healthOver({ fails: true });
    await record(aWebhook(), failure(), pending);
    expect(telemetry.lines.join()).toContain('webhook.health_not_stored');
  });
});
