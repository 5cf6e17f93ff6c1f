import { describe, expect, it } from 'vitest';
import type { Replay, ReplayRange } from '../../../../lambdas/delivery/replay/replay.ts';
import type { Webhook } from '../../../../lambdas/webhooks/webhook.ts';
import { replayDeliveries } from '../../../../ops/deliveries/replay-deliveries.ts';
import { aWebhook, noon } from '../../delivery/builders.ts';

const range: ReplayRange = { from: noon - 3_600_000, to: noon, wanted: 'failed' };
const request = { account: 'conta-1', event: 'demanda.criada', ...range } as const;

const aReplay = (changes: Partial<Replay> = {}): Replay => ({
  ...range,
  id: 'reenvio_1',
  accountId: 'conta-1',
  eventName: 'demanda.criada',
  webhookId: 'webhook-1',
  state: 'running',
  startedAt: noon,
  total: 0,
  countCursor: 'somewhere',
  sent: 0,
  lastSlotAt: noon,
  sendCursor: 'somewhere',
  inFlight: [],
  nextSlotAt: noon,
  claim: 1,
  lookAt: noon,
  ...changes,
});

/** Runs a replay that is found in these states one after another, a second apart. */
const replay = async (
  begun: Replay | undefined,
  later: readonly Replay[] = [],
  webhook: Webhook | undefined = aWebhook(),
  outcome: 'started' | 'running' = 'started',
) => {
  const shown: string[] = [];
  const asked: unknown[] = [];
  const named: unknown[] = [];
  const looks = [...later];
  let moment = noon;
  const done = await replayDeliveries(
    request,
    {
      findWebhook: async () => webhook,
      findLatest: async () => looks.shift(),
      start: async (_webhook, wanted) => {
        asked.push(wanted);
        return begun && { outcome, replay: begun };
      },
      now: () => moment,
      pause: async milliseconds => {
        moment += milliseconds;
      },
    },
    { progress: text => void shown.push(text), nameDone: done => void named.push(done) },
  );
  return { done, shown, asked, named };
};

describe('the operator’s replay of a range', () => {
  it('waits for the end of the replay, and shows its progress', async () => {
    const counted = { total: 20, countCursor: null };
    const { done, shown, asked, named } = await replay(aReplay(), [
      aReplay({ total: 12 }),
      aReplay({ ...counted, sent: 20, state: 'completed', lastSlotAt: noon + 3_900 }),
      aReplay({ ...counted, sent: 20, state: 'completed', lastSlotAt: noon + 3_900 }),
      aReplay({ ...counted, sent: 20, state: 'completed', lastSlotAt: noon + 3_900 }),
    ]);
    expect(asked).toEqual([range]);
    expect(done).toEqual({ id: 'reenvio_1', total: 20, sent: 20 });
    expect([named[0], named.at(-1)]).toEqual([0, 20].map(count => ({ replay: 'reenvio_1', count })));
    expect(shown).toEqual([
      'Counting: 0 deliveries so far',
      'Counting: 12 deliveries so far',
      'Sent 1 of 20 deliveries, ten a second',
      'Sent 11 of 20 deliveries, ten a second',
    ]);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['without a webhook', () => replay(aReplay(), [], null as never), /no webhook for demanda\.criada/],
    [
      'while the webhook is suspended',
      () => replay(aReplay(), [], aWebhook({ status: 'suspended', suspensionReason: 'gone' })),
      /is suspended \(gone\): "webhooks reactivate" first/,
    ],
    ['beside another one', () => replay(aReplay(), [], aWebhook(), 'running'), /a replay of .* is under way/],
    ['where the latest one changes meanwhile', () => replay(undefined), /changed just now: type it again/],
    [
      'to its end when it is cancelled',
      () => replay(aReplay({ total: 9, countCursor: null, state: 'cancelled', sent: 3, endedAt: noon })),
      /cancelled after 3 of 9 deliveries/,
    ],
    ['to its end when another takes its place', () => replay(aReplay(), [aReplay({ id: 'reenvio_2' })]), /replaced/],
  ])('does not run %s', async (_when, attempt, message) => {
    await expect(attempt()).rejects.toThrow(message);
  });
});
