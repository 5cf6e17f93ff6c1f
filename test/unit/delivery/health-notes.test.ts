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
const givenUp: AttemptOutcome = {
  outcome: 'given_up',
  record: aRecord({ resultado: 'lenta', status: null, resposta: null }),
};

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
    ['an attempt that was given up', aWebhook(), givenUp, pending, []],
    ['an attempt that was given up, after failures', failingFor(1), givenUp, pending, []],
    ['an attempt that was given up, when its delivery ends', failingFor(5), givenUp, exhausted, []],
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
