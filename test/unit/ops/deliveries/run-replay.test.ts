import { describe, expect, it } from 'vitest';
import { type ReplayedWebhook, replayEach } from '../../../../ops/deliveries/replay.ts';
import { CliError } from '../../../../ops/stage/operator.ts';

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
