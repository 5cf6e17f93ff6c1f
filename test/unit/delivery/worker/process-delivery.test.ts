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
  /** @default one before its first attempt */
  readonly delivery?: Delivery;
  readonly webhook?: ReturnType<typeof aWebhook>;
  readonly outcome?: AttemptOutcome;
  /** True when the outcome is the first one of its attempt. */
  readonly isSaved?: boolean;
  readonly queueFails?: boolean;
  readonly lane?: Lane;
  readonly slowness?: StoredSlowness;
  /** True when this process may make a further attempt at the webhook. */
  readonly mayAttempt?: boolean;
}

interface Expected {
  /** Everything that was done, in order. */
  readonly did: readonly string[];
  readonly saved?: object;
  readonly sent?: object;
  readonly counts: object;
}

const isQuick = slownessOf({ accountId: 'conta-1', eventName: 'demanda.criada' }, undefined);
const isSlow: StoredSlowness = { ...isQuick, ...withSlowDns(unknownSlowness, noon) };

/** Processes a delivery, and tells everything that was done, in order. */
const process = async (circumstances: Circumstances) => {
  const { delivery = aDelivery(), webhook = aWebhook(), outcome = success, isSaved = true } = circumstances;
  const { lane = 'first', slowness = isQuick, mayAttempt = true, queueFails } = circumstances;
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
    applyOutcome: makeApplyOutcome({ schedule: [5_000], now, random: () => 1 }),
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
      if (!moved.wait) await save(withSlot(moved, { at: noon + 250, series: 0 }, noon));
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
  return { did, sent: sent[0], saved: saved[0], ...telemetry };
};

const attempted = ['start watch', 'attempt', 'end watch'];
const failing = aWebhook({ failingSince: noon - 60_000 });
const waiting = aDelivery({
  attempt: 2,
  wait: { nextAttemptAt: noon - 1, sweepAt: noon + 119_999, overdueCount: 1 },
});
const testOf = { ...waiting, id: 'teste_0000000000000000000001' };
const blocked = failure({ result: 'blocked', status: null, response: null });
const slowRecord = aRecord({ result: 'slow', status: null, response: null, durationMs: 2_003 });
const givenUp: AttemptOutcome = { outcome: 'given_up', record: slowRecord, sinceConnectingMs: 2_000 };
const unmade = { state: 'pending', attempt: 1, charged: 0, attempts: [] };
const isFull = { mayAttempt: false };

describe('processing a delivery', () => {
  it.each<[string, Circumstances, Expected]>([
    [
      'a retry that cannot be sent is no failure: the sweeper finds it',
      { outcome: failure(), queueFails: true },
      { did: [...attempted, 'save', 'send', 'record health'], counts: { Delivered: 0, AttemptNotSent: 1 } },
    ],
    [
      'a refused address is counted on its own',
      { outcome: blocked },
      { did: [...attempted, 'save', 'send', 'record health'], counts: { Delivered: 0, Blocked: 1 } },
    ],
    [
      'a webhook that keeps failing has its first attempt made by another consumer, at once',
      { webhook: failing },
      {
        did: ['save', 'send'],
        saved: unmade,
        sent: { attempt: 1, wait: { nextAttemptAt: noon, sweepAt: noon + 120_000 } },
        counts: { MovedToRetryLane: 1 },
      },
    ],
    [
      'one that is slow has its attempts made in the slow lane, and their retries sent to their own',
      { outcome: failure(), lane: 'slow', slowness: isSlow },
      {
        did: [...attempted, 'save', 'send', 'record health'],
        saved: { attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 5_000 } },
        counts: { Delivered: 0 },
      },
    ],
    [
      'one that is slow holds its events all the same while it is suspended',
      { webhook: aWebhook({ status: 'suspended', suspensionReason: 'operator' }), slowness: isSlow },
      { did: ['save'], saved: { state: 'held', settledAt: noon }, counts: { Held: 1 } },
    ],
    [
      // Eighty tests a minute of one account's hanging webhooks took all places of the retry lane.
      'one that is tested has that made by the slow lane’s consumer, whatever its health',
      { delivery: testOf, lane: 'retry' },
      { did: ['send slow'], counts: { MovedToSlowLane: 1 } },
    ],
    [
      'one whose limit is reached has a first attempt made 2 to 4 s later, in the retry lane',
      isFull,
      {
        did: ['save', 'send'],
        saved: unmade,
        sent: { wait: { nextAttemptAt: noon + 3_000, sweepAt: noon + 123_000 } },
        counts: { MovedToRetryLane: 1 },
      },
    ],
    [
      'one whose limit is reached has a retry made later as it is stored, uncharged',
      { delivery: waiting, lane: 'retry', ...isFull },
      {
        did: ['send'],
        sent: { attempt: 2, wait: { nextAttemptAt: noon + 3_000 } },
        counts: { MovedToRetryLane: 1 },
      },
    ],
    [
      'an attempt that was given up is recorded with a number of its own, uncharged, as it moves to the slow lane',
      { delivery: aDelivery({ attempt: 3, charged: 2 }), outcome: givenUp },
      {
        did: [...attempted, 'move to slow lane', 'save'],
        saved: { state: 'pending', attempt: 4, charged: 2, attempts: [{ result: 'slow' }] },
        counts: { Delivered: 0, GivenUp: 1 },
      },
    ],
    [
      'an attempt that was given up is counted by nobody where a copy was quicker',
      { outcome: givenUp, isSaved: false },
      { did: [...attempted, 'move to slow lane', 'save'], counts: {} },
    ],
  ])('%s', async (_, circumstances, { did, counts, ...others }) => {
    const made = await process(circumstances);
    expect({ did: made.did, counts: made.counts }).toEqual({ did, counts });
    expect(made).toMatchObject(others);
  });

  it('logs one line per attempt, without URL, payload or response', async () => {
    const record = aRecord({ response: 'canary-response' });
    const { lines } = await process({
      delivery: aDelivery({ body: 'canary-body' }),
      webhook: aWebhook({ url: 'https://receiver.example.com/?token=canary-url', failingSince: noon }),
      outcome: { outcome: 'failed', retryAfterMs: undefined, detail: 'HTTP 500', record },
    });
    expect(lines.map(line => JSON.parse(line))).toEqual([
      [
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
      ],
    ]);
  });
});
