import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../lambdas/delivery/attempt.ts';
import type { Delivery, WaitingDelivery } from '../../../lambdas/delivery/delivery.ts';
import type { Lane } from '../../../lambdas/delivery/lane.ts';
import { makeAfterAttempt } from '../../../lambdas/delivery/lifecycle.ts';
import { makeTakeTurn } from '../../../lambdas/delivery/turn.ts';
import { frozenClock } from '../../support/clock.ts';
import { aDelivery, aRecord, aWebhook, failure, fakeTelemetry, noon, success } from './builders.ts';

interface Circumstances {
  readonly outcome?: AttemptOutcome;
  /** Whether the outcome is the first one of its attempt. */
  readonly isSaved?: boolean;
  readonly queueFails?: boolean;
  readonly lane?: Lane;
  readonly schedule?: number[];
}

/** One turn, and everything it did in order. */
const turn = async (
  delivery: Delivery,
  webhook: ReturnType<typeof aWebhook> | undefined,
  { outcome = success, isSaved = true, queueFails, lane = 'first', schedule = [5_000] }: Circumstances = {},
) => {
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
  const takeTurn = makeTakeTurn({
    ...telemetry,
    attempt: async () => {
      did.push('attempt');
      return outcome;
    },
    afterAttempt: makeAfterAttempt({ schedule, now, random: () => 1 }),
    watchForSlowness: () => {
      did.push('watch');
      return async () => void did.push('end watch');
    },
    noteHealth: async () => void did.push('note health'),
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
  await takeTurn(delivery, webhook, save);
  return { did, sent, saved: saved[0], ...telemetry };
};

describe('a delivery’s turn', () => {
  it('a success is recorded, and nothing else', async () => {
    const { did, saved, counts } = await turn(aDelivery(), aWebhook());
    expect(did).toEqual(['watch', 'attempt', 'end watch', 'note health', 'save']);
    expect(saved).toMatchObject({ state: 'entregue' });
    expect(counts).toEqual({ Delivered: 1 });
  });

  it('a failure is recorded before its retry is sent', async () => {
    const { did, sent, counts } = await turn(aDelivery(), aWebhook({ failingSince: noon }), { outcome: failure() });
    expect(did).toEqual(['watch', 'attempt', 'end watch', 'note health', 'save', 'send']);
    expect(sent).toMatchObject([{ attempt: 2, wait: { nextAttemptAt: noon + 5_000 } }]);
    expect(counts).toEqual({ AttemptFailed: 1 });
  });

  it('a wait of more than 15 min is left to the sweeper', async () => {
    const webhook = aWebhook({ failingSince: noon });
    const { did } = await turn(aDelivery(), webhook, { outcome: failure(), schedule: [900_001] });
    expect(did).toEqual(['watch', 'attempt', 'end watch', 'note health', 'save']);
  });

  it('a retry that cannot be sent is no failure: the sweeper finds it', async () => {
    const { counts } = await turn(aDelivery(), aWebhook(), { outcome: failure(), queueFails: true });
    expect(counts).toMatchObject({ RetryNotSent: 1 });
  });

  it('a copy that was slower sends nothing', async () => {
    const { did, counts } = await turn(aDelivery(), aWebhook(), { outcome: failure(), isSaved: false });
    expect(did).not.toContain('send');
    expect(counts).toEqual({ StaleDropped: 1 });
  });

  it('a refused address is counted on its own', async () => {
    const outcome = failure({ resultado: 'bloqueada', status: null, resposta: null });
    expect((await turn(aDelivery(), aWebhook(), { outcome })).counts).toEqual({ Blocked: 1 });
  });

  it('without its webhook it is cancelled, unsent', async () => {
    for (const webhook of [undefined, aWebhook({ webhookId: 'webhook-2' })]) {
      const { did, saved, counts } = await turn(aDelivery({ attempt: 3 }), webhook);
      expect(did).toEqual(['save']);
      expect(saved).toMatchObject({ state: 'cancelada', settledAt: noon, attempt: 3 });
      expect(counts).toEqual({ Cancelled: 1 });
    }
  });

  it('while its webhook is suspended it is held, unsent', async () => {
    const { did, saved, counts } = await turn(aDelivery(), aWebhook({ status: 'suspenso', suspensionReason: 'gone' }));
    expect(did).toEqual(['save']);
    expect(saved).toMatchObject({ state: 'retida', settledAt: noon });
    expect(counts).toEqual({ Held: 1 });
  });
});

describe('a webhook that', () => {
  const slow = aWebhook({ slowSince: noon });
  const failing = aWebhook({ failingSince: noon - 60_000 });
  const waiting = aDelivery({ attempt: 2, wait: { nextAttemptAt: noon - 1, lookAt: noon + 119_999, pickups: 1 } });

  it.each([
    ['keeps failing', failing, 'send', 'MovedToRetryLane'],
    ['is slow', slow, 'send slow', 'MovedToSlowLane'],
  ])('%s has its first attempt made by another consumer, at once', async (_, webhook, send, metric) => {
    const { did, sent, saved, counts } = await turn(aDelivery(), webhook);
    expect(did).toEqual(['save', send]);
    expect(saved).toMatchObject({ state: 'pendente', attempt: 1, charged: 0, attempts: [] });
    expect(sent).toMatchObject([{ attempt: 1, wait: { nextAttemptAt: noon, lookAt: noon + 120_000 } }]);
    expect(counts).toEqual({ [metric]: 1 });
  });

  it('is slow has its retries made by another consumer, as they are: when the sweeper looks does not change', async () => {
    const { did, sent, counts } = await turn(waiting, slow, { lane: 'retry' });
    expect(did).toEqual(['send slow']);
    expect(sent).toEqual([waiting]);
    expect(counts).toEqual({ MovedToSlowLane: 1 });
  });

  it('is slow loses no retry when that queue is down: its message comes back', async () => {
    const moved = turn(waiting, slow, { lane: 'retry', queueFails: true });
    await expect(moved).rejects.toThrow('the queue is down');
  });

  it('keeps failing has its retries made where they are', async () => {
    expect((await turn(waiting, failing, { lane: 'retry' })).did).toContain('attempt');
  });

  it('is slow has its attempts made there: the lane changes, not the schedule', async () => {
    const { did, saved } = await turn(aDelivery(), slow, { outcome: failure(), lane: 'slow' });
    expect(did).toEqual(['watch', 'attempt', 'end watch', 'note health', 'save', 'send slow']);
    expect(saved).toMatchObject({ attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 5_000 } });
  });

  it('was slow has what is left in the slow lane made there, and its retries in their own again', async () => {
    const { did } = await turn(waiting, aWebhook(), { outcome: failure(), lane: 'slow' });
    expect(did.filter(step => step === 'attempt' || step.startsWith('send'))).toEqual(['attempt', 'send']);
  });

  // Eighty tests a minute of one account's hanging webhooks took all places of the retry lane.
  it('is tested has that made by the slow lane’s consumer, whatever its health', async () => {
    const { did } = await turn({ ...waiting, id: 'teste_0000000000000000000001' }, aWebhook(), { lane: 'retry' });
    expect(did).toEqual(['send slow']);
  });

  it('is slow holds its events all the same while suspended', async () => {
    expect((await turn(aDelivery(), { ...slow, status: 'suspenso' })).saved).toMatchObject({ state: 'retida' });
  });
});

describe('the log', () => {
  it('has one line per attempt, without URL, payload or response', async () => {
    const record = aRecord({ resposta: 'canary-response' });
    const webhook = aWebhook({ url: 'https://receiver.example.com/?token=canary-url', failingSince: noon });
    const outcome: AttemptOutcome = { outcome: 'failed', askedWaitMs: undefined, detail: 'HTTP 500', record };
    const { lines } = await turn(aDelivery({ body: 'canary-body' }), webhook, { outcome });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual([
      'attempt',
      {
        deliveryId: 'evt_000000000000000000000000001',
        account: 'conta-1',
        event: 'demanda.criada',
        attempt: 1,
        resultado: 'http',
        status: 500,
        durationMs: 12,
        detail: 'HTTP 500',
        state: 'pendente',
      },
    ]);
  });
});
