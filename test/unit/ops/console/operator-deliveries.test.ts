import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { makeOperatorSource } from '../../../../ops/console/operator-source.ts';
import { NotThere } from '../../../../ops/console/views.ts';
import { countInState, readTimes } from '../../../../ops/deliveries/delivery-counts.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { putAll } from '../../../support/database/put-all.ts';
import { aDelivery, aWebhook, noon } from '../../delivery/builders.ts';

let database: Database;
let calls = 0;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
  await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item: aWebhook({ createdAt: noon - 1 }) }));
  await fill(200, 'delivered');
  await fill(100, 'failed');
  await fill(7, 'held');
  await fill(5, 'pending');
  await fill(3, 'failed', number => ({ id: `teste_${String(number).padStart(22, '0')}` }));
});
afterAll(() => database.stop());

/** Stores deliveries that were accepted one a second from noon on. */
const fill = async (
  count: number,
  state: DeliveryState,
  changes: (number: number) => Partial<Delivery> = () => ({}),
) => {
  const made = Array.from({ length: count }, (_, number) => {
    const id = `evt_${state.padEnd(9, '0')}${String(number).padStart(18, '0')}`;
    const delivery = aDelivery({ id, createdAt: noon + number * 1_000, ...changes(number) });
    if (state !== 'pending') return settled(delivery, state, noon);
    return { ...delivery, wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 } };
  });
  const items = made.map(delivery => itemFromDelivery(delivery));
  await putAll(database.dynamo, 'Deliveries', items);
};

/** Returns a target whose pages of an index hold so many keys. */
const targetOf = (page = 1_000) => {
  const dynamo: Dynamo = (command, options) => {
    calls += 1;
    if (command instanceof QueryCommand) command.input.Limit ??= page;
    return database.dynamo(command, options);
  };
  return { ...localTarget({ DeliveriesTable: 'Deliveries', WebhooksTable: 'Webhooks' }), dynamo };
};

const webhook = { account: 'conta-1', event: 'demanda.criada' } as const;
const span = { ...webhook, from: noon, before: noon + 3_600_000 };
const counting = async <Value>(work: () => Promise<Value>) => {
  calls = 0;
  const value = await work();
  return { value, calls };
};

describe('deliveries are counted by keys alone', () => {
  it('all of them, where the calls reach the end', async () => {
    const { value, calls } = await counting(() => readTimes(targetOf(), span, 24));
    const { delivered, undelivered, failed, reached } = value;
    expect([delivered.length, undelivered.length, failed.length, reached]).toEqual([200, 115, 103, undefined]);
    expect(calls).toBeLessThanOrEqual(24);
    expect(delivered.toSorted((one, other) => one - other).slice(0, 2)).toEqual([noon, noon + 1_000]);
  });

  it('those of a span alone', async () => {
    const { delivered, failed } = await readTimes(
      targetOf(),
      { ...span, from: noon + 1_000, before: noon + 50_000 },
      24,
    );
    expect([delivered.length, failed.length]).toEqual([49, 51]);
  });

  it('the latest of all, where they do not', async () => {
    const { value, calls } = await counting(() => readTimes(targetOf(10), span, 24));
    const { delivered, undelivered, failed, reached = 0 } = value;
    expect(calls).toBe(24);
    expect(reached).toBeGreaterThan(noon);
    // Of what came after that none is missing: one a second of each.
    const since = (count: number) => Math.max(0, count - 1 - (reached - noon) / 1_000);
    expect([delivered.length, failed.length]).toEqual([since(200), since(100)]);
    expect(undelivered.length).toBe(failed.length);
  });

  it('and those that a replay would send, in eight calls, without tests', async () => {
    const whole = await counting(() => countInState(targetOf(), span, 'failed'));
    expect(whole).toEqual({ value: { count: 100, isCutOff: false }, calls: 8 });
    const { value, calls } = await counting(() => countInState(targetOf(5), span, 'failed'));
    expect([value.isCutOff, calls]).toEqual([true, 8]);
    expect(value.count).toBeLessThanOrEqual(40);
  });
});

describe('an operator’s source', () => {
  const id = `evt_failed000${'0'.repeat(18)}`;

  it.each([
    [{ ...webhook, account: 'loja', id }, 'The webhook of loja for demanda.criada has no delivery'],
    [{ ...webhook, event: 'demanda.cancelada', id }, 'The webhook of conta-1 for demanda.cancelada has no delivery'],
  ])('sends and shows nothing by the address of another webhook: %j', async (reference, refusal) => {
    const source = makeOperatorSource(targetOf());
    await expect(source.resend(reference)).rejects.toThrow(refusal);
    await expect(source.resend(reference)).rejects.toBeInstanceOf(NotThere); // 404
    await expect(source.readBody(reference)).rejects.toThrow(refusal);
    // The right one goes on, as far as a target without an audit trail goes.
    await expect(source.resend({ ...webhook, id })).rejects.toThrow('audit');
  });

  it.each(['a b/c', '', 'a#b'])('works on no account that can be none: %j', async account => {
    const source = makeOperatorSource(targetOf());
    const { event } = webhook;
    for (const work of [
      () => source.operator?.suspend(account, event),
      () => source.reactivate(account, event),
      () => source.test(account, event),
      () => source.replay({ account, event, state: 'falhou', since: '', until: '' }),
      () => source.cancelReplay({ account, event }, 'reenvio_1'),
    ]) {
      await expect((async () => work())()).rejects.toThrow('No account can be named');
    }
  });

  it('lists pages of the same length, each once, and refuses a place that is none', async () => {
    const source = makeOperatorSource(targetOf());
    const found = await source.findWebhook(webhook.account, webhook.event);
    const first = await source.latestDeliveries({ ...webhook, webhook: found, limit: 20 });
    expect([first.deliveries.length, first.timed.length]).toEqual([20, 200]);
    const second = await source.listDeliveries({ ...webhook, limit: 20, cursor: first.next ?? '' });
    expect(second.deliveries.map(row => row.id)).toEqual(first.timed.slice(20, 40).map(row => row.id));
    await expect(source.listDeliveries({ ...webhook, limit: 20, cursor: 'bogus' })).rejects.toThrow('no place "bogus"');
  });

  it('finds the replay that is under way', async () => {
    const target = targetOf();
    const source = makeOperatorSource(target);
    expect(await source.findReplay(webhook)).toBeUndefined();
    const replays = makeReplayStore({ ...target.time, dynamo: target.dynamo, table: 'Deliveries' });
    const cursor = `${new Date(noon).toISOString()}#~`;
    const [from, to] = [noon, noon + 1];
    await replays.start(
      {
        ...{ id: 'reenvio_1', accountId: 'conta-1', eventName: 'demanda.criada', webhookId: 'webhook-1', from, to },
        ...{
          wanted: 'failed',
          state: 'running',
          startedAt: noon,
          total: 9,
          countCursor: null,
          sent: 4,
          lastSlotAt: noon,
        },
        ...{ sendCursor: cursor, inFlight: [], nextSlotAt: noon, claim: 1, lookAt: noon },
      },
      undefined,
    );
    const running = { id: 'reenvio_1', isRunning: true, state: 'em_andamento', total: 9, sent: 4 };
    expect(await source.findReplay(webhook)).toEqual(running);
    expect(await source.findReplay(webhook, 'reenvio_2')).toBeUndefined();
  });
});
