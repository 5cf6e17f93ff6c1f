import { afterAll, describe, expect, it, vi } from 'vitest';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import type { Replay } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { isoTime } from '../../../../lambdas/platform/clock.ts';
import { replayEach } from '../../../../ops/deliveries/replay.ts';
import { fail, startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, aWebhook, noon } from '../../delivery/builders.ts';
import { unread } from '../a-task.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());
const { json, run } = operated;
const replays = makeReplayStore({ dynamo: operated.database.dynamo, table: 'Deliveries', now: Date.now });

/** Stores failed deliveries, one a second. Resent deliveries stay in the index. */
const store = async (name: (number: number) => string, count: number, resent = 0, from = noon) => {
  const items = Array.from({ length: count }, (_, number) => {
    const [accountId, createdAt] = [name(number), from + (count === 100 ? number * 1_000 : 0)];
    const id = `evt_${`${accountId}${number}`.padStart(27, '0')}`;
    const delivery = aDelivery({ id, accountId, createdAt });
    const { stateShard, ...failed } = itemFromDelivery(settled(delivery, 'failed', noon));
    const isResent = number >= count - resent;
    return { ...(isResent ? itemFromDelivery(settled(delivery, 'delivered', noon)) : failed), stateShard };
  });
  await operated.put('Deliveries', ...items);
};
const span = (from: number, to: number) => `--state failed --since ${isoTime(from)} --until ${isoTime(to)}`;
const inRange = span(noon, noon + 3_600_000);

// The command skips these deliveries, because they have no webhook.

it('ops deliveries replay asks for confirmation, then replays the webhooks with deliveries in the range', async () => {
  await store(() => 'acme', 1);
  const skipped = { accountId: 'acme', evento: 'demanda.criada', outcome: 'skipped' };
  expect(await json(`deliveries replay --account acme ${inRange}`)).toMatchObject([skipped]);
  expect(await json(`deliveries replay --account nobody ${inRange}`)).toEqual([]);
  for (const account of ['', ' --account acme']) {
    const { code, stdout, stderr } = await run(`deliveries replay${account} ${inRange}`);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: This resends deliveries of 1 webhook of .* Add --yes to confirm\.\n$/);
  }
});

it('ops deliveries replay shows a count of up to 1,000 webhooks in its question', async () => {
  const from = noon + 7 * 86_400_000;
  const question = async () => (await run(`deliveries replay ${span(from, from + 1)}`)).stderr;
  await store(number => `many${number}`, 1_000, 0, from);
  expect(await question()).toMatch(/^error: This resends deliveries of 1000 webhooks of /);
  await store(() => 'more', 1, 0, from);
  expect(await question()).toMatch(/^error: This resends deliveries of more than 1,000 webhooks of /);
});

it('ops deliveries replay includes a webhook even if its newest deliveries have already been resent', async () => {
  await store(() => 'late', 100, 99);
  expect(await json(`deliveries replay --account late ${inRange}`)).toMatchObject([{ accountId: 'late' }]);
});

it('ops deliveries replay ends the range at the present time by default, and records the end in the audit trail', async () => {
  const since = isoTime(Date.now() - 3_600_000);
  await json(`deliveries replay --account nobody --state failed --since ${since}`);
  const [line] = await operated.trail();
  expect(line?.change).toEqual({ state: 'failed', since, until: expect.stringMatching(/Z$/) });
  const ago = Date.now() - Date.parse(String(line?.change?.until));
  expect(ago).toBeGreaterThanOrEqual(0);
  expect(ago).toBeLessThan(60_000);
  const late = `--state failed --since ${isoTime(Date.now() + 3_600_000)}`;
  const stderr = expect.stringMatching(/^error: The range ends at .*, before it starts/);
  expect(await run(`deliveries replay --account nobody ${late}`)).toEqual({ code: 1, stdout: '', stderr });
});

it('ops deliveries replay of many webhooks prints a line about each, and skips webhooks that it cannot replay', async () => {
  const from = noon - 7 * 86_400_000;
  await store(number => `each${number}`, 3, 0, from);
  await operated.put('Webhooks', ...['each1', 'each2'].map(accountId => aWebhook({ accountId })));
  const { stderr } = await run(`--yes deliveries replay ${span(from, from + 1)}`);
  expect(stderr.trimEnd().split('\n').toSorted()).toEqual([
    expect.stringMatching(/^each0 demanda\.criada: skipped: .*no webhook/),
    'each1 demanda.criada: 1 deliveries queued',
    'each2 demanda.criada: 1 deliveries queued',
  ]);
  const [line] = await operated.trail();
  expect(line).toMatchObject({ outcome: 'done', target: { count: 2 } });
  const replay = expect.stringMatching(/^reenvio_/);
  const targets = ['each1', 'each2'].map(account => ({ account, event: 'demanda.criada', replay }));
  expect(line?.parts).toEqual(expect.arrayContaining(targets));
});

describe('the replays of many webhooks', () => {
  const webhooks = Array.from({ length: 35 }, (_, at) => ({ account: `${at}`, event: 'demanda.criada' as const }));
  const task = { print: () => {}, progress: () => {}, ...unread };

  it('run at most 10 at a time', async () => {
    let [running, max] = [0, 0];
    const outcomes = await replayEach(webhooks, task, async ({ account }) => {
      running += 1;
      max = Math.max(max, running);
      await new Promise(setImmediate);
      running -= 1;
      return { id: `reenvio_${account}`, state: 'completed', sent: 2 };
    });
    expect([max, outcomes.length]).toEqual([10, 35]);
  });

  it('stop after a failure that affects all webhooks', async () => {
    const replayOne = vi.fn(async ({ account }: { account: string }) => {
      if (account === '3') fail();
      await new Promise(setImmediate);
      return { id: `reenvio_${account}`, state: 'completed' as const, sent: 2 };
    });
    await expect(replayEach(webhooks, task, replayOne)).rejects.toThrow('half-way');
    expect(replayOne.mock.calls.length).toBeLessThanOrEqual(10);
  });
});

describe('ops deliveries replay of one webhook', () => {
  type Act = (latest: Replay) => Promise<unknown>;
  /** Runs a replay of 100 deliveries, and calls a function while it waits. */
  const replay = async (account: string, webhook: object | undefined, duringWait: Act) => {
    await store(() => account, 100);
    if (webhook) await operated.put('Webhooks', aWebhook({ accountId: account, ...webhook }));
    const pause = async () => {
      const latest = await replays.findLatest(account, 'demanda.criada');
      if (latest) await duringWait(latest);
    };
    const words = `--yes deliveries replay --account ${account} --event demanda.criada ${inRange}`;
    return operated.under({ time: { pause } }).run(words);
  };
  const finish = (latest: Replay) => replays.save({ ...latest, sent: 70, pass: 2 });

  it('waits until all deliveries are queued', async () => {
    const { code, stdout } = await replay('sent', {}, finish);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Queued 70 deliveries\. /)]);
    const target = { account: 'sent', replay: expect.stringMatching(/^reenvio_/), count: 70 };
    expect(await operated.trail()).toMatchObject([{ outcome: 'done', target }]);
  });

  const gone = { status: 'suspended', suspensionReason: 'gone' };
  const cancel = (latest: Replay) => replays.end(latest, 'cancelled');
  const replace = (latest: Replay) => replays.start({ ...latest, id: `reenvio_${'2'.repeat(22)}` }, latest);
  it.each<[string, object | undefined, Act, RegExp]>([
    ['without a webhook', undefined, finish, /no webhook for demanda\.criada/],
    ['for a suspended webhook', gone, finish, /suspended: gone\. Run "webhooks reactivate"/],
    ['if it is cancelled', {}, cancel, /cancelled after \d+ deliveries/],
    ['if it is replaced', {}, replace, /replaced/],
  ])('fails %s', async (title, webhook, duringWait, problem) => {
    const failure = { code: 1, stdout: '', stderr: expect.stringMatching(problem) };
    expect(await replay(title.replaceAll(' ', '-'), webhook, duringWait)).toEqual(failure);
  });

  it('rejects a second replay at the same time', async () => {
    const second = async (latest: Replay) => {
      const words = `deliveries replay --account twice --event demanda.criada ${inRange}`;
      const stderr = expect.stringMatching(/^error: a replay of .* is in progress \(reenvio_\w+\)/);
      expect(await operated.run(words)).toEqual({ code: 1, stdout: '', stderr });
      await finish(latest);
    };
    expect(await replay('twice', {}, second)).toMatchObject({ code: 0 });
  });
});

describe('deliveries replay --cancel', () => {
  const id = `reenvio_${'0'.repeat(22)}`;
  const webhook = { accountId: 'running', eventName: 'demanda.criada' } as const;
  const options = `--account ${webhook.accountId} --event ${webhook.eventName}`;
  const cancel = (replay = id) => run(`deliveries replay ${options} --cancel ${replay}`);
  const startReplay = async (changes: Partial<Replay> = {}) => {
    const latest = await replays.findLatest(webhook.accountId, webhook.eventName);
    const range = { from: noon - 1, to: noon, sourceState: 'failed' } as const;
    const progress = { state: 'running', startedAt: noon, sent: 26, pass: 1 } as const;
    await replays.start({ id, ...webhook, webhookId: 'webhook-1', ...range, ...progress, ...changes }, latest);
  };

  it('cancels a running replay, can be repeated, and writes an audit line', async () => {
    await startReplay();
    const done = {
      code: 0,
      stdout: expect.stringMatching(/^The replay is cancelled\. Its 26 queued deliveries/),
    };
    expect(await cancel()).toMatchObject(done);
    expect(await replays.find(webhook.accountId, webhook.eventName, id)).toMatchObject({ state: 'cancelled' });
    expect(await cancel()).toMatchObject(done);
    const target = { account: 'running', event: 'demanda.criada', replay: id };
    const [line] = await operated.trail();
    expect(line).toMatchObject({ command: 'deliveries replay', target, change: { cancel: true }, outcome: 'done' });
  });

  it('rejects a replay that does not exist or is completed', async () => {
    const other = `reenvio_${'1'.repeat(22)}`;
    expect(await cancel(other)).toMatchObject({ code: 1, stderr: expect.stringContaining('has no replay') });
    await startReplay({ id: other });
    const latest = await replays.findLatest(webhook.accountId, webhook.eventName);
    if (latest) await replays.end(latest, 'completed');
    expect(await cancel(other)).toMatchObject({ code: 1, stderr: expect.stringContaining('It queued 26') });
  });
});
