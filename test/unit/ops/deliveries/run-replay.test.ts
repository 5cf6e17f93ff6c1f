import { describe, expect, it } from 'vitest';
import type { Replay, ReplayRange } from '../../../../lambdas/delivery/replay/replay.ts';
import type { Webhook } from '../../../../lambdas/webhooks/webhook.ts';
import { type ReplayedWebhook, replayEach, runReplay } from '../../../../ops/deliveries/replay.ts';
import { CliError } from '../../../../ops/stage/operator.ts';
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
  sent: 0,
  pass: 1,
  ...changes,
});

/** Runs a replay that is found in these states one after another, a second apart. */
const replay = async (
  begun: Replay | undefined,
  later: readonly Replay[] = [],
  webhook: Webhook | undefined = aWebhook(),
  outcome: 'started' | 'running' = 'started',
) => {
  const progress: unknown[] = [];
  const asked: unknown[] = [];
  const started: string[] = [];
  const looks = [...later];
  const done = await runReplay(
    request,
    {
      findWebhook: async () => webhook,
      findLatest: async () => looks.shift(),
      start: async (_webhook, wanted) => {
        asked.push(wanted);
        return begun && { outcome, replay: begun };
      },
      pause: async () => {},
    },
    {
      onStarted: async id => void started.push(id),
      onProgress: ({ sent }) => void progress.push(sent),
    },
  );
  return { done, progress, asked, started };
};

describe('the operator’s replay of a range', () => {
  it('waits until all are sent, and reports its progress', async () => {
    const { done, progress, asked, started } = await replay(aReplay(), [
      aReplay({ sent: 12 }),
      aReplay({ sent: 20, pass: 2 }),
    ]);
    expect(asked).toEqual([range]);
    expect(done).toEqual({ id: 'reenvio_1', state: 'running', sent: 20 });
    expect(started).toEqual(['reenvio_1']);
    expect(progress).toEqual([0, 12, 20]);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['without a webhook', () => replay(aReplay(), [], null as never), /no webhook for demanda\.criada/],
    [
      'while the webhook is suspended',
      () => replay(aReplay(), [], aWebhook({ status: 'suspended', suspensionReason: 'gone' })),
      /is suspended \(gone\): "webhooks reactivate" first/,
    ],
    ['beside another one', () => replay(aReplay(), [], aWebhook(), 'running'), /a replay of .* is in progress/],
    ['where the latest one changes meanwhile', () => replay(undefined), /changed just now\. Repeat the command/],
    [
      'to its end when it is cancelled',
      () => replay(aReplay({ state: 'cancelled', sent: 3, endedAt: noon })),
      /cancelled after 3 deliveries/,
    ],
    ['to its end when another takes its place', () => replay(aReplay(), [aReplay({ id: 'reenvio_2' })]), /replaced/],
  ])('does not run %s', async (_when, attempt, message) => {
    await expect(attempt()).rejects.toThrow(message);
  });
});

const webhooksOf = (...accounts: readonly string[]): ReplayedWebhook[] =>
  accounts.map(account => ({ account, event: 'demanda.criada' }));

type ReplayOne = Parameters<typeof replayEach>[2];

const atOnce: ReplayOne = async ({ account }, onStarted) => {
  await onStarted(`reenvio_${account}`);
  return { id: `reenvio_${account}`, state: 'completed', sent: 2 };
};

const each = async (webhooks: readonly ReplayedWebhook[], replayOne: ReplayOne) => {
  const [lines, named]: [string[], object[]] = [[], []];
  const task = {
    tell: (line: string) => void lines.push(line),
    progress: () => {},
    nameDone: (subject: object) => void named.push(subject),
    nameMore: async (subject: object) => void named.push(subject),
  };
  return { outcomes: await replayEach(webhooks, task, replayOne), lines, named };
};

describe('the replays of many webhooks', () => {
  it('are each reported by a line, and named for the audit trail', async () => {
    const { outcomes, lines, named } = await each(webhooksOf('a'), atOnce);
    expect(outcomes).toMatchObject([{ account: 'a', outcome: 'done', sent: 2 }]);
    expect(lines).toEqual(['a demanda.criada: 2 deliveries queued']);
    expect(named).toEqual([{ count: 1 }, { account: 'a', event: 'demanda.criada', replay: 'reenvio_a' }]);
  });

  it('run ten at once, and no more', async () => {
    const accounts = Array.from({ length: 35 }, (_, number) => `account${number}`);
    let [running, most] = [0, 0];
    const { outcomes } = await each(webhooksOf(...accounts), async (webhook, onStarted) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return atOnce(webhook, onStarted);
    });
    expect([most, outcomes.length]).toEqual([10, 35]);
  });

  it('skip a webhook that cannot be replayed', async () => {
    const { outcomes, named } = await each(webhooksOf('b', 'c'), async (webhook, onStarted) => {
      if (webhook.account === 'b') throw new CliError('it is suspended (gone).');
      return atOnce(webhook, onStarted);
    });
    expect(outcomes).toContainEqual({ ...webhooksOf('b')[0], outcome: 'skipped', reason: 'it is suspended (gone).' });
    expect(outcomes).toContainEqual(expect.objectContaining({ account: 'c', outcome: 'done' }));
    expect(named).toHaveLength(2);
  });

  it('start no more after a failure that does not concern one webhook alone', async () => {
    const accounts = Array.from({ length: 30 }, (_, number) => `account${number}`);
    let started = 0;
    const failing = each(webhooksOf(...accounts), async () => {
      started += 1;
      throw new Error('the table does not answer');
    });
    await expect(failing).rejects.toThrow('the table does not answer');
    expect(started).toBeLessThanOrEqual(10);
  });
});
