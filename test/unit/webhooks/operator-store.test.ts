import { GetCommand, PutCommand, type ScanCommand, type UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mostAnnouncements } from '../../../lambdas/webhooks/announcement.ts';
import { makeOperatorStore } from '../../../lambdas/webhooks/operator-store.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore, type WebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { type Database, startDatabase } from '../../support/database/database.ts';

let database: Database;
let store: WebhookStore;
let operator: ReturnType<typeof makeOperatorStore>;
let accounts = 0;
let accountId = '';

beforeAll(async () => {
  database = await startDatabase('Webhooks');
  const here = { dynamo: database.dynamo, table: 'Webhooks' };
  store = makeWebhookStore(here);
  operator = makeOperatorStore({ ...here, now: () => 2_000 });
});
afterAll(() => database.stop());
beforeEach(() => {
  accountId = `account-${++accounts}`;
});

const webhook = (changes: Partial<Webhook> = {}): Webhook => ({
  accountId,
  eventName: 'demanda.criada',
  webhookId: 'id-1',
  url: 'https://receiver.example.com/',
  secrets: [{ sealed: 'sealed-1', createdAt: 1_000 }],
  status: 'active',
  suspensionReason: null,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...changes,
});

const hold = { status: 'suspended', suspensionReason: 'operator' } as const;
const changed = (changes: Partial<Webhook>) => ({ outcome: 'changed', webhook: webhook(changes) });
const announced = async () => {
  const Key = { accountId, eventName: 'demanda.criada' };
  return (await database.dynamo(new GetCommand({ TableName: 'Webhooks', Key }))).Item?.announcements;
};

describe('an operator', () => {
  it.each([null, 'gone', 'no_success'] as const)('suspends a webhook, already suspended or not: %s', async reason => {
    await store.create(
      webhook({ status: reason ? 'suspended' : 'active', suspensionReason: reason, failingSince: 1_500 }),
    );
    const suspended = { ...hold, failingSince: 1_500, updatedAt: 2_000 };
    expect(await operator.suspend(accountId, 'demanda.criada')).toEqual(changed(suspended));
    expect(await store.reactivate(accountId, 'demanda.criada', 3_000)).toEqual(webhook(suspended));
    expect(await announced()).toEqual([
      { type: 'webhook.suspended', since: 2_000, reason: 'operator', lastResult: null, deliveryId: null },
    ]);
  });

  it('suspends once: a second suspension changes and announces nothing', async () => {
    await store.create(webhook(hold));
    expect(await operator.suspend(accountId, 'demanda.criada')).toEqual(changed(hold));
    expect(await announced()).toBeUndefined();
  });

  // An account that suspends itself and reactivates filled the list, and then the item: no write was taken any more.
  it.each([0, 1, 4, 5, 6, 40])('suspends a webhook that has announced %i times', async count => {
    await store.create(webhook());
    for (let round = 0; round < count; round++) {
      const gone = webhook({ status: 'suspended', suspensionReason: 'gone' });
      const Item = { ...gone, announcements: (await announced()) ?? [] };
      await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item }));
      await store.reactivate(accountId, 'demanda.criada', 100 + round);
    }
    expect(await operator.suspend(accountId, 'demanda.criada')).toEqual(changed({ ...hold, updatedAt: 2_000 }));
    const told = await announced();
    expect(told).toHaveLength(Math.min(count + 1, mostAnnouncements));
    expect(told.at(-1)).toMatchObject({ type: 'webhook.suspended', since: 2_000, reason: 'operator' });
    if (count > 0) expect(told[0]).toMatchObject({ type: 'webhook.reactivated', since: 100 });
  });

  it('suspends a webhook whose full list of announcements is removed meanwhile', async () => {
    const full = Array.from({ length: mostAnnouncements }, (_, since) => ({ type: 'webhook.reactivated', since }));
    const Item = { ...webhook(), announcements: full };
    await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item }));
    let writes = 0;
    const send = async (command: UpdateCommand) => {
      if (++writes === 2) await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item: webhook() }));
      return database.dynamo(command);
    };
    const dynamo = send as never;
    const racing = makeOperatorStore({ dynamo, table: 'Webhooks', now: () => 2_000 });
    expect(await racing.suspend(accountId, 'demanda.criada')).toEqual(changed({ ...hold, updatedAt: 2_000 }));
    expect(await announced()).toMatchObject([{ reason: 'operator' }]);
  });

  it('suspends an event without a webhook, until an operator ends that', async () => {
    expect(await operator.suspend(accountId, 'demanda.criada')).toEqual({ outcome: 'not_registered' });
    expect(await operator.find(accountId, 'demanda.criada')).toEqual({
      accountId,
      eventName: 'demanda.criada',
      since: 2_000,
    });
    expect(await operator.suspend(accountId, 'demanda.criada')).toEqual({ outcome: 'not_registered' });
    expect(await store.create(webhook())).toEqual(webhook(hold));
    expect(await operator.reactivate(accountId, 'demanda.criada')).toEqual(changed({ updatedAt: 2_000 }));
  });

  it('ends a suspension that outlived its webhook', async () => {
    await store.create(webhook(hold));
    await store.remove(accountId, 'demanda.criada', 1_500);
    expect(await operator.reactivate(accountId, 'demanda.criada')).toEqual({ outcome: 'not_registered' });
    expect(await operator.reactivate(accountId, 'demanda.criada')).toBeUndefined();
    expect(await store.create(webhook())).toEqual(webhook());
  });

  it.each(['gone', 'no_success', 'operator'] as const)('ends any suspension: %s', async suspensionReason => {
    await store.create(webhook({ status: 'suspended', suspensionReason, failingSince: 1_500, failingMark: 10 }));
    expect(await operator.reactivate(accountId, 'demanda.criada')).toEqual(changed({ updatedAt: 2_000 }));
    expect(await announced()).toMatchObject([{ type: 'webhook.reactivated', since: 2_000 }]);
  });

  it('leaves an active webhook as it is', async () => {
    await store.create(webhook({ failingSince: 1_500 }));
    expect(await operator.reactivate(accountId, 'demanda.criada')).toEqual(changed({ failingSince: 1_500 }));
    expect(await announced()).toBeUndefined();
  });

  it('has nothing to reactivate without a webhook or suspension, and creates nothing', async () => {
    expect(await operator.reactivate(accountId, 'demanda.criada')).toBeUndefined();
    expect(await operator.find(accountId, 'demanda.criada')).toBeUndefined();
  });

  // Whatever order they come in, what is there at the end is suspended.
  it('cannot be evaded by an account that deletes and registers meanwhile', async () => {
    for (let round = 0; round < 10; round++) {
      await store.create(webhook());
      const churn = async () => {
        for (let time = 0; time < 4; time++) {
          await store.remove(accountId, 'demanda.criada', 1_500);
          await store.create(webhook({ webhookId: `id-${round}-${time}` }));
        }
      };
      await Promise.all([churn(), operator.suspend(accountId, 'demanda.criada')]);
      expect(await store.find(accountId, 'demanda.criada')).toMatchObject(hold);
      await operator.reactivate(accountId, 'demanda.criada');
    }
  });

  it('lists the webhooks of all accounts in order', async () => {
    await store.create(webhook({ eventName: 'proposta.recebida' }));
    await store.create(webhook());
    const all = await operator.listAll(() => {});
    const keys = all.map(({ accountId: account, eventName }) => `${account} ${eventName}`);
    expect(keys).toEqual(keys.toSorted());
    expect(all.filter(found => found.accountId === accountId).map(({ eventName }) => eventName)).toEqual([
      'demanda.criada',
      'proposta.recebida',
    ]);
  });
});

/** A table that never ends: each page has a hundred items, one of which is a suspension. */
const endless = (pages: number) => {
  let read = 0;
  const send = async ({ input }: ScanCommand) => {
    const page = Number(input.ExclusiveStartKey?.page ?? 0);
    read += 1;
    return {
      ScannedCount: 100,
      Items: [{ accountId: `a${page}`, eventName: 'demanda.criada', status: 'suspended', updatedAt: 1 }],
      ...(page + 1 < pages && { LastEvaluatedKey: { page: page + 1 } }),
    };
  };
  const store = makeOperatorStore({ dynamo: send as never, table: 'Webhooks', now: () => 0 });
  return { list: store.listTroubled, pagesRead: () => read };
};

describe('the suspended and failing webhooks', () => {
  it('reads the table to its end, if that is near', async () => {
    const { list, pagesRead } = endless(3);
    expect(await list()).toMatchObject({ read: 300, isCutOff: false, found: [{}, {}, { accountId: 'a2' }] });
    expect(pagesRead()).toBe(3);
  });

  it('stops after ten pages, and says that there are more', async () => {
    const { list, pagesRead } = endless(1_000);
    expect(await list()).toMatchObject({ read: 1_000, isCutOff: true });
    expect(pagesRead()).toBe(10);
  });
});
