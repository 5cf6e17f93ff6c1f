import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import type { Replay } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { isoTime } from '../../../../lambdas/platform/clock.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { openAuditLog } from '../../../../ops/audit/audit-log.ts';
import { replay } from '../../../../ops/deliveries/deliveries.command.ts';
import { localTarget, type Target } from '../../../../ops/stage/target.ts';
import { thisWorld } from '../../../../ops/stage/world.ts';
import { frozenClock } from '../../../support/clock.ts';
import { putAll } from '../../../support/database/put-all.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, noon } from '../../delivery/builders.ts';
import { aTask } from '../a-task.ts';

let questions: string[];
let reported: string[];
const operated = await startOperatedTables();
beforeEach(() => {
  questions = [];
  reported = [];
});
afterAll(() => operated.stop());

/** Stores deliveries of an account that failed, one a second from noon on. Those that are resent stand in the index as before. */
const store = async (accountId: string, count: number, isResent: (number: number) => boolean) => {
  await Promise.all(
    Array.from({ length: count }, (_, number) => {
      const id = `evt_${accountId}${String(number).padStart(23, '0')}`;
      const delivery = aDelivery({ id, accountId, createdAt: noon + number * 1_000 });
      const failed = itemFromDelivery(settled(delivery, 'failed', noon));
      const { stateShard } = failed;
      const item = isResent(number)
        ? { ...itemFromDelivery(settled(delivery, 'delivered', noon)), stateShard }
        : failed;
      return operated.database.dynamo(new PutCommand({ TableName: 'Deliveries', Item: item }));
    }),
  );
};

const targetAt = (time = systemTime) => {
  const outputs = { ...operated.outputs, RetryQueueUrl: 'http://127.0.0.1:1/retry' };
  return localTarget(outputs, { ...thisWorld, time });
};

const taskOn = (target: Target) =>
  aTask(target, { tell: line => void reported.push(line), confirm: async text => void questions.push(text) });

const range = { since: noon, until: noon + 3_600_000, state: 'falhou' } as const;
const replayAll = async (account?: string) => (await replay.act(taskOn(targetAt()), { account, ...range })).all;

// None of these has a webhook: what is chosen is skipped.

it('replays the webhooks of an account that have deliveries in the range', async () => {
  await store('acme', 1, () => false);
  expect(await replayAll('acme')).toMatchObject([{ account: 'acme', event: 'demanda.criada', outcome: 'skipped' }]);
  expect(questions).toEqual([expect.stringMatching(/^This sends deliveries of 1 webhook of account "acme"/)]);
  expect(await replayAll('nobody')).toEqual([]);
  const span = ['--since', isoTime(range.since), '--until', isoTime(range.until), '--state', 'falhou'];
  const unasked = { code: 1, stdout: '', stderr: expect.stringMatching(/^error: This sends .* add --yes\.\n$/) };
  for (const account of [[], ['--account', 'acme']])
    expect(await operated.run('deliveries', 'replay', ...account, ...span)).toEqual(unasked);
});

it('counts the webhooks that it asks for up to a thousand', async () => {
  const createdAt = noon + 7 * 86_400_000;
  const fill = async (count: number, name: string) => {
    const items = Array.from({ length: count }, (_, number) => {
      const accountId = `${name}${number}`;
      const delivery = aDelivery({ id: `evt_${accountId.padStart(27, '0')}`, accountId, createdAt });
      return itemFromDelivery(settled(delivery, 'failed', noon));
    });
    await putAll(operated.database.dynamo, 'Deliveries', items);
  };
  const question = async () => {
    const span = ['--since', isoTime(createdAt), '--until', isoTime(createdAt + 1)];
    return (await operated.run('deliveries', 'replay', '--state', 'falhou', ...span)).stderr;
  };
  await fill(1_000, 'many');
  expect(await question()).toMatch(/^error: This sends deliveries of 1000 webhooks of /);
  await fill(1, 'more');
  expect(await question()).toMatch(/^error: This sends deliveries of more than 1,000 webhooks of /);
});

it('leaves none out whose newest deliveries all succeeded since the index was written', async () => {
  await store('late', 100, number => number > 0);
  expect(await replayAll('late')).toMatchObject([{ account: 'late', event: 'demanda.criada', outcome: 'skipped' }]);
});

it('ends by the time of the target unless told otherwise, and the audit trail has that', async () => {
  const target = targetAt(frozenClock(noon).time);
  target.clock.learn(new Date(noon + 7_200_000).toUTCString(), noon);
  await replay.act(taskOn(target), { account: 'nobody', since: noon, state: 'falhou' });
  const trail = await openAuditLog(targetAt()).list(0, 100);
  const change = { state: 'falhou', since: isoTime(noon), until: isoTime(noon + 7_200_000) };
  expect(trail).toContainEqual(expect.objectContaining({ change }));
  const late = { account: 'nobody', since: noon + 7_200_000, state: 'falhou' } as const;
  await expect(replay.act(taskOn(targetAt(frozenClock(noon).time)), late)).rejects.toThrow(
    /^the range ends at 2026-11-20T12:00:00\.000Z, before it begins/,
  );
});

describe('deliveries replay --cancel', () => {
  const id = `reenvio_${'0'.repeat(22)}`;
  const webhook = { accountId: 'running', eventName: 'demanda.criada' } as const;
  const named = ['--account', webhook.accountId, '--event', webhook.eventName];
  const replays = makeReplayStore({ dynamo: operated.database.dynamo, table: 'Deliveries', now: Date.now });
  const cancel = (replay = id) => operated.run('deliveries', 'replay', ...named, '--cancel', replay);
  const begin = async (changes: Partial<Replay> = {}) => {
    const latest = await replays.findLatest(webhook.accountId, webhook.eventName);
    const range = { from: noon - 1, to: noon, wanted: 'failed' } as const;
    const progress = { state: 'running', startedAt: noon, sent: 26, pass: 1 } as const;
    await replays.start({ id, ...webhook, webhookId: 'webhook-1', ...range, ...progress, ...changes }, latest);
  };

  it('cancels a running replay, can be repeated, and is in the audit trail', async () => {
    await begin();
    const done = { code: 0, stdout: expect.stringMatching(/^The replay is cancelled\. It has queued 26 deliveries/) };
    expect(await cancel()).toMatchObject(done);
    expect(await replays.find(webhook.accountId, webhook.eventName, id)).toMatchObject({ state: 'cancelled' });
    expect(await cancel()).toMatchObject(done);
    const target = { account: 'running', event: 'demanda.criada', replay: id };
    const [line] = await openAuditLog(targetAt()).list(0, 1);
    expect(line).toMatchObject({ command: 'deliveries replay', target, change: { cancel: true }, outcome: 'done' });
  });

  it('refuses a replay that is not there or is completed', async () => {
    const other = `reenvio_${'1'.repeat(22)}`;
    expect(await cancel(other)).toMatchObject({ code: 1, stderr: expect.stringContaining('has no replay') });
    await begin({ id: other });
    const latest = await replays.findLatest(webhook.accountId, webhook.eventName);
    if (latest) await replays.end(latest, 'completed');
    expect(await cancel(other)).toMatchObject({ code: 1, stderr: expect.stringContaining('it has queued 26') });
  });

  it.each([
    [['--cancel', 'x', ...named], /"reenvio_" and 22/],
    [['--cancel', id], /--cancel needs --account and --event/],
    [['--cancel', id, '--account', 'running'], /--cancel needs --account and --event/],
    [['--cancel', id, ...named, '--state', 'falhou'], /--cancel takes no --state/],
    [['--cancel', id, ...named, '--since', '1h'], /--cancel takes no/],
    [named, /--state and --since are required/],
  ])('refuses %j as usage', async (words, message) => {
    const { code, stderr } = await operated.run('deliveries', 'replay', ...words);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
