import { describe, expect, it } from 'vitest';
import type { AttemptOutcome, Delivery, WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { unknownSlowness, withSlowDns } from '../../../../lambdas/delivery/isolation/slowness.ts';
import { type StoredSlowness, slownessOf } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import type { Lane } from '../../../../lambdas/delivery/lane-routing.ts';
import { makeApplyOutcome, withSlot } from '../../../../lambdas/delivery/transitions.ts';
import { makeProcessDelivery } from '../../../../lambdas/delivery/worker/process-delivery.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, noon, success } from '../builders.ts';

interface Circumstances {
  readonly outcome?: AttemptOutcome;
  /** True when the outcome is the first one of its attempt. */
  readonly isSaved?: boolean;
  readonly queueFails?: boolean;
  readonly lane?: Lane;
  readonly schedule?: number[];
  readonly slowness?: StoredSlowness;
  /** True when this process may make a further attempt at the webhook. */
  readonly mayAttempt?: boolean;
}

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;
const isQuick = slownessOf(owner, undefined);
const isSlow: StoredSlowness = { ...isQuick, ...withSlowDns(unknownSlowness, noon) };

/** Processes a delivery, and tells everything that was done, in order. */
const process = async (
  delivery: Delivery,
  webhook: ReturnType<typeof aWebhook> | undefined,
  circumstances: Circumstances = {},
) => {
  const { outcome = success, isSaved = true, queueFails, lane = 'first', schedule = [5_000] } = circumstances;
  const { slowness = isQuick, mayAttempt = true } = circumstances;
  const did: string[] = [];
  const sent: WaitingDelivery[] = [];
  const saved: Delivery[] = [];
  const { now, advance } = frozenClock();
  const telemetry = fakeTelemetry();
  const queue = (name: string) => ({
    send: async (waiting: WaitingDelivery) => {
      did.push(name);
      if (queueFails) throw new Error('the queue is down');
      sent.push(waiting);
    },
  });
  const processDelivery = makeProcessDelivery({
    ...telemetry,
    attempt: async () => {
      did.push('attempt');
      return outcome;
    },
    applyOutcome: makeApplyOutcome({ schedule, now, random: () => 1 }),
    startAttemptWatch: () => {
      did.push('start watch');
      return {
        signal: new AbortController().signal,
        onResolving: () => undefined,
        onAsking: () => undefined,
        onConnecting: () => undefined,
        onAnswered: () => undefined,
        end: async () => void did.push('end watch'),
      };
    },
    moveToSlowLane: async (moved, _, save) => {
      did.push('move to slow lane');
      if (lane !== 'slow' && !moved.wait) await save(withSlot(moved, { at: noon + 250, series: 0 }, noon));
    },
    health: { record: async () => void did.push('record health') },
    suspensions: {
      afterGone: async (_, standing) => {
        did.push('suspend');
        return standing;
      },
    },
    random: () => 0.5,
    lane,
    queues: { retry: queue('send'), slow: queue('send slow') },
    now,
  });
  const save = async (after: Delivery) => {
    did.push('save');
    advance(50); // storing takes its time, and must not change what was decided
    saved.push(after);
    return isSaved;
  };
  await processDelivery(delivery, { webhook, slowness }, save, { mayAttempt });
  return { did, sent, saved: saved[0], ...telemetry };
};

describe('processing a delivery', () => {
  it('a success is recorded, and nothing else', async () => {
    const { did, saved, counts } = await process(aDelivery(), aWebhook());
    expect(did).toEqual(['start watch', 'attempt', 'end watch', 'save', 'record health']);
    expect(saved).toMatchObject({ state: 'delivered' });
    expect(counts).toEqual({ Delivered: 1 });
  });

  it('a failure is recorded before its retry is sent', async () => {
    const { did, sent, counts } = await process(aDelivery(), aWebhook({ failingSince: noon }), { outcome: failure() });
    expect(did).toEqual(['start watch', 'attempt', 'end watch', 'save', 'send', 'record health']);
    expect(sent).toMatchObject([{ attempt: 2, wait: { nextAttemptAt: noon + 5_000 } }]);
    expect(counts).toEqual({ Delivered: 0 });
  });

  it('a 410 is recorded before its webhook is suspended', async () => {
    const gone: AttemptOutcome = { outcome: 'gone', record: aRecord({ status: 410 }) };
    const { did, saved, counts } = await process(aDelivery(), aWebhook(), { outcome: gone });
    expect(did).toEqual(['start watch', 'attempt', 'end watch', 'save', 'suspend', 'record health']);
    expect(saved).toMatchObject({ state: 'held', goneFrom: expect.stringMatching(/^[\w-]{11}$/) });
    expect(counts).toEqual({ Delivered: 0, Held: 1 });
  });

  it('a wait of more than 15 min is left to the sweeper', async () => {
    const webhook = aWebhook({ failingSince: noon });
    const { did } = await process(aDelivery(), webhook, { outcome: failure(), schedule: [900_001] });
    expect(did).toEqual(['start watch', 'attempt', 'end watch', 'save', 'record health']);
  });

  it('a retry that cannot be sent is no failure: the sweeper finds it', async () => {
    const { counts } = await process(aDelivery(), aWebhook(), { outcome: failure(), queueFails: true });
    expect(counts).toMatchObject({ AttemptNotSent: 1 });
  });

  it('a copy that was slower sends nothing', async () => {
    const { did, counts } = await process(aDelivery(), aWebhook(), { outcome: failure(), isSaved: false });
    expect(did).not.toContain('send');
    expect(counts).toEqual({ StaleDropped: 1 });
  });

  it('a refused address is counted on its own', async () => {
    const outcome = failure({ result: 'blocked', status: null, response: null });
    expect((await process(aDelivery(), aWebhook(), { outcome })).counts).toEqual({ Delivered: 0, Blocked: 1 });
  });

  it('without its webhook it is cancelled, unsent', async () => {
    for (const webhook of [undefined, aWebhook({ webhookId: 'webhook-2' })]) {
      const { did, saved, counts } = await process(aDelivery({ attempt: 3 }), webhook);
      expect(did).toEqual(['save']);
      expect(saved).toMatchObject({ state: 'cancelled', settledAt: noon, attempt: 3 });
      expect(counts).toEqual({ Cancelled: 1 });
    }
  });

  it('while its webhook is suspended it is held, unsent', async () => {
    const { did, saved, counts } = await process(
      aDelivery(),
      aWebhook({ status: 'suspended', suspensionReason: 'gone' }),
    );
    expect(did).toEqual(['save']);
    expect(saved).toMatchObject({ state: 'held', settledAt: noon });
    expect(counts).toEqual({ Held: 1 });
  });
});

describe('a webhook that', () => {
  const failing = aWebhook({ failingSince: noon - 60_000 });
  const waiting = aDelivery({
    attempt: 2,
    wait: { nextAttemptAt: noon - 1, sweepAt: noon + 119_999, overdueCount: 1 },
  });

  it('keeps failing has its first attempt made by another consumer, at once', async () => {
    const { did, sent, saved, counts } = await process(aDelivery(), failing);
    expect(did).toEqual(['save', 'send']);
    expect(saved).toMatchObject({ state: 'pending', attempt: 1, charged: 0, attempts: [] });
    expect(sent).toMatchObject([{ attempt: 1, wait: { nextAttemptAt: noon, sweepAt: noon + 120_000 } }]);
    expect(counts).toEqual({ MovedToRetryLane: 1 });
  });

  it.each(['first', 'retry'] as const)(
    'is slow has its attempts moved to the slow lane by the %s lane, unmade',
    async lane => {
      const { did } = await process(lane === 'first' ? aDelivery() : waiting, aWebhook(), { lane, slowness: isSlow });
      expect(did.filter(step => step !== 'save')).toEqual(['move to slow lane']);
    },
  );

  it('keeps failing has its retries made where they are', async () => {
    expect((await process(waiting, failing, { lane: 'retry' })).did).toContain('attempt');
  });

  it('is slow has its attempts made there: the lane changes, not the schedule', async () => {
    const { did, saved } = await process(aDelivery(), aWebhook(), {
      outcome: failure(),
      lane: 'slow',
      slowness: isSlow,
    });
    expect(did).toEqual(['start watch', 'attempt', 'end watch', 'save', 'send', 'record health']);
    expect(saved).toMatchObject({ attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 5_000 } });
  });

  it('was slow has what is left in the slow lane made there, and its retries in their own again', async () => {
    const { did } = await process(waiting, aWebhook(), { outcome: failure(), lane: 'slow' });
    expect(did.filter(step => step === 'attempt' || step.startsWith('send'))).toEqual(['attempt', 'send']);
  });

  // Eighty tests a minute of one account's hanging webhooks took all places of the retry lane.
  it('is tested has that made by the slow lane’s consumer, whatever its health', async () => {
    const { did } = await process({ ...waiting, id: 'teste_0000000000000000000001' }, aWebhook(), { lane: 'retry' });
    expect(did).toEqual(['send slow']);
  });

  it('is slow holds its events all the same while suspended', async () => {
    const suspended = aWebhook({ status: 'suspended', suspensionReason: 'operator' });
    expect((await process(aDelivery(), suspended, { slowness: isSlow })).saved).toMatchObject({ state: 'held' });
  });
});

describe('a webhook whose limit is reached', () => {
  const full = { mayAttempt: false };

  it('has a first attempt made 2 to 4 s later, in the retry lane', async () => {
    const { did, sent, saved, counts } = await process(aDelivery(), aWebhook(), full);
    expect(did).toEqual(['save', 'send']);
    expect(saved).toMatchObject({ state: 'pending', attempt: 1, charged: 0, attempts: [] });
    expect(sent).toMatchObject([{ wait: { nextAttemptAt: noon + 3_000, sweepAt: noon + 123_000 } }]);
    expect(counts).toEqual({ MovedToRetryLane: 1 });
  });

  it('has a retry made later as it is stored, uncharged', async () => {
    const waiting = {
      ...aDelivery({ attempt: 2 }),
      wait: { nextAttemptAt: noon, sweepAt: noon + 120_000, overdueCount: 0 },
    };
    const { did, sent } = await process(waiting, aWebhook(), { ...full, lane: 'retry' });
    expect(did).toEqual(['send']);
    expect(sent).toMatchObject([{ attempt: 2, wait: { nextAttemptAt: noon + 3_000 } }]);
  });
});

describe('an attempt that was given up', () => {
  const record = aRecord({ result: 'slow', status: null, response: null, durationMs: 2_003 });
  const outcome: AttemptOutcome = { outcome: 'given_up', record, sinceConnectingMs: 2_000 };

  it('is recorded with a number of its own, uncharged, as it moves to the slow lane', async () => {
    const { did, saved, counts, lines } = await process(aDelivery({ attempt: 3, charged: 2 }), aWebhook(), { outcome });
    expect(did).toEqual(['start watch', 'attempt', 'end watch', 'move to slow lane', 'save']);
    expect(saved).toMatchObject({ state: 'pending', attempt: 4, charged: 2, attempts: [{ result: 'slow' }] });
    expect(counts).toEqual({ Delivered: 0, GivenUp: 1 });
    expect(lines.join()).toContain('"result":"slow"');
  });

  it('is counted by nobody where a copy was quicker', async () => {
    const { counts } = await process(aDelivery(), aWebhook(), { outcome, isSaved: false });
    expect(counts).not.toHaveProperty('GivenUp');
  });
});

describe('the log', () => {
  it('has one line per attempt, without URL, payload or response', async () => {
    const record = aRecord({ response: 'canary-response' });
    const webhook = aWebhook({ url: 'https://receiver.example.com/?token=canary-url', failingSince: noon });
    const outcome: AttemptOutcome = { outcome: 'failed', retryAfterMs: undefined, detail: 'HTTP 500', record };
    const { lines } = await process(aDelivery({ body: 'canary-body' }), webhook, { outcome });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual([
      'delivery.attempt',
      {
        deliveryId: 'evt_000000000000000000000000001',
        account: 'conta-1',
        event: 'demanda.criada',
        attempt: 1,
        result: 'http',
        status: 500,
        durationMs: 12,
        detail: 'HTTP 500',
        host: 'receiver.example.com',
        state: 'pending',
        nextAttemptAt: '2026-11-20T12:00:05.000Z',
      },
    ]);
  });
});
