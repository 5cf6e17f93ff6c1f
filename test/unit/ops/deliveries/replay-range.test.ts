import { describe, expect, it } from 'vitest';
import type { FoundReplay } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { type ReplayedWebhook, type ReplayOne, replayRange } from '../../../../ops/deliveries/replay-range.ts';
import { CliError } from '../../../../ops/stage/operator.ts';
import { noon } from '../../delivery/builders.ts';

const range = { from: noon - 3_600_000, to: noon, wanted: 'failed' } as const;
const webhooksOf = (...accounts: readonly string[]): ReplayedWebhook[] =>
  accounts.map(account => ({ account, event: 'demanda.criada' }));

/** Replays a range with the replays that exist, and tells what was told and named. */
const replayAll = async (
  webhooks: readonly ReplayedWebhook[],
  replayOne: ReplayOne,
  existing: ReadonlyMap<string, FoundReplay> = new Map(),
) => {
  const told: string[] = [];
  const named: object[] = [];
  const run = replayRange(
    webhooks,
    range,
    { find: async account => existing.get(account), replayOne },
    {
      tell: line => void told.push(line),
      progress: () => {},
      nameDone: subject => void named.push(subject),
      nameMore: async subject => void named.push(subject),
      now: () => noon,
    },
  );
  return { told, named, outcomes: await run };
};

const atOnce: ReplayOne = async (_request, unique, onBegun) => {
  await onBegun();
  return { id: `reenvio_${unique}`, total: 2, sent: 2 };
};

describe('replayRange', () => {
  it('replays by account and event, tells each by a line, and names each for the audit trail', async () => {
    const { told, named, outcomes } = await replayAll(webhooksOf('b', 'a'), atOnce);
    expect(outcomes).toMatchObject([
      { account: 'a', outcome: 'done', total: 2, sent: 2 },
      { account: 'b', outcome: 'done' },
    ]);
    expect(told.filter(line => line.startsWith('a '))).toEqual([
      'a demanda.criada: begun',
      'a demanda.criada: done, 2 of 2 deliveries queued',
    ]);
    expect(named).toEqual([
      { count: 1 },
      { account: 'a', event: 'demanda.criada', replay: expect.stringMatching(/^reenvio_[a-z0-9]{22}$/) },
      { count: 2 },
      { account: 'b', event: 'demanda.criada', replay: expect.stringMatching(/^reenvio_[a-z0-9]{22}$/) },
    ]);
  });

  it('has ten under way at once, and no more', async () => {
    const accounts = Array.from({ length: 35 }, (_, number) => `account${String(number).padStart(2, '0')}`);
    let [underWay, most] = [0, 0];
    const { outcomes } = await replayAll(webhooksOf(...accounts), async (request, unique, onBegun) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return atOnce(request, unique, onBegun);
    });
    expect([most, outcomes.length]).toEqual([10, 35]);
  });

  it('gives the replay of a webhook the same id for the same range, and another for any other', async () => {
    const ids = new Set<string>();
    const record: ReplayOne = async (request, unique, onBegun) => {
      ids.add(unique);
      return atOnce(request, unique, onBegun);
    };
    await replayAll(webhooksOf('a'), record);
    await replayAll(webhooksOf('a'), record);
    expect(ids.size).toBe(1);
    await replayAll([...webhooksOf('b'), { account: 'a', event: 'demanda.cancelada' }], record);
    expect(ids.size).toBe(3);
  });

  it('skips a webhook whose replay of the range exists, and one that cannot be replayed', async () => {
    const past = { id: 'reenvio_1', state: 'cancelled', sent: 2, total: 5 };
    const found = { replay: past, latest: { id: 'reenvio_2' } } as unknown as FoundReplay;
    // Bug: the command was said to go on where it ended, and nothing sent what a cancelled replay had not.
    const span = '--since 2026-11-20T11:00:00.000Z --until 2026-11-20T12:00:00.000Z';
    const rest = `2 of 5 were sent: "deliveries replay --account a --event demanda.criada --state falhou ${span}" sends the rest`;
    const { outcomes, named } = await replayAll(
      webhooksOf('a', 'b', 'c'),
      async (request, unique, onBegun) => {
        if (request.account === 'b') throw new CliError('it is suspended (gone).');
        return atOnce(request, unique, onBegun);
      },
      new Map([['a', found]]),
    );
    expect(outcomes).toMatchObject([
      { account: 'a', outcome: 'skipped', reason: `its replay of this range exists (cancelado); ${rest}` },
      { account: 'b', outcome: 'skipped', reason: 'it is suspended (gone).' },
      { account: 'c', outcome: 'done' },
    ]);
    expect(named).toHaveLength(2);
  });

  it('begins no further one after a failure that is none of a webhook', async () => {
    const accounts = Array.from({ length: 30 }, (_, number) => `account${number}`);
    let begun = 0;
    const failing = replayAll(webhooksOf(...accounts), async () => {
      begun += 1;
      throw new Error('the table does not answer');
    });
    await expect(failing).rejects.toThrow('the table does not answer');
    expect(begun).toBeLessThanOrEqual(10);
  });
});
