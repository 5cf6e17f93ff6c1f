import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../lambdas/delivery/attempt.ts';
import { settled } from '../../../lambdas/delivery/delivery.ts';
import { makeNoteHealth } from '../../../lambdas/delivery/health-notes.ts';
import { frozenClock } from '../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, noon, ownFault, success } from './builders.ts';

const day = 24 * 60 * 60_000;
const gone: AttemptOutcome = { outcome: 'gone', record: aRecord({ status: 410 }) };
const pending = aDelivery();
const exhausted = settled(aDelivery(), 'falhou', noon);
const failingFor = (days: number) => aWebhook({ failingSince: noon - days * day });
const successIn = (duracao_ms: number): AttemptOutcome => ({
  outcome: 'delivered',
  record: aRecord({ resultado: 'entregue', status: 200, duracao_ms }),
});

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
    slowedDown: step('slowedDown'),
    spedUp: step('spedUp'),
    suspend: (_: unknown, reason: string) => step(`suspend ${reason}`)(),
  };
  const noteSuspension = async () => void did.push('notice');
  return { note: makeNoteHealth({ ...telemetry, health, noteSuspension, now: frozenClock().now }), did, ...telemetry };
};

describe('what an attempt says about its webhook', () => {
  it.each([
    ['the first failure', aWebhook(), failure(), pending, ['startedFailing']],
    ['another failure', failingFor(1), failure(), pending, []],
    ['the first success', failingFor(1), success, pending, ['recovered']],
    ['another success', aWebhook(), success, pending, []],
    ['410', aWebhook(), gone, pending, ['notice', 'suspend gone']],
    ['our own fault', aWebhook(), ownFault(), pending, []],
    ['exhaustion after 5 days of failure', failingFor(5), failure(), exhausted, ['notice', 'suspend sem_sucesso']],
    ['exhaustion after less', failingFor(4.99), failure(), exhausted, []],
    ['5 days of failure without exhaustion', failingFor(5), failure(), pending, []],
  ])('%s', async (_, webhook, outcome, after, expected) => {
    const { note, did } = notes();
    await note(webhook, outcome, after);
    expect(did).toEqual(expected);
  });

  it('announces a suspension', async () => {
    const { note, counts, lines } = notes();
    await note(aWebhook(), gone, pending);
    expect(counts).toEqual({ WebhookSuspended: 1 });
    expect(lines.join()).toContain('webhook suspended');
  });

  it('is not worth an outcome: what cannot be noted is logged', async () => {
    const { note, lines } = notes({ fails: true });
    await note(aWebhook(), failure(), pending);
    expect(lines.join()).toContain('webhook health not stored');
  });

  it('is worth the outcome when a receiver is gone: its message comes back until it is suspended', async () => {
    const { note } = notes({ fails: true });
    await expect(note(aWebhook(), gone, pending)).rejects.toThrow('the store is down');
  });
});

describe('a slow webhook', () => {
  const slow = aWebhook({ slowSince: noon });

  it.each([
    ['by its first quick success', slow, successIn(2_000), ['spedUp']],
    ['not by a success that is slower', slow, successIn(2_001), []],
    ['not by a failure, however quick', slow, failure(), ['startedFailing']],
    ['not by a fault of our own', slow, ownFault(), []],
    ['not where it is not slow', aWebhook(), successIn(1), []],
  ])('ends to be one %s', async (_, webhook, outcome, expected) => {
    const { note, did } = notes();
    await note(webhook, outcome, pending);
    expect(did).toEqual(expected);
  });
});
