import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeOperatorStore, type OperatorStore } from '../../../lambdas/webhooks/operator-store.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore, type WebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

let database: Dynalite;
let store: WebhookStore;
let operator: OperatorStore;
let accounts = 0;
let accountId = '';

beforeAll(async () => {
  database = await startDynalite('Webhooks');
  const here = { documents: database.documents, tableName: 'Webhooks' };
  store = makeWebhookStore(here);
  operator = makeOperatorStore({ ...here, now: () => 2_000 });
});
afterAll(() => database.stop());
beforeEach(() => {
  accountId = `account-${++accounts}`;
});

const webhook = (changes: Partial<Webhook> = {}): Webhook => ({
  accountId,
  evento: 'demanda.criada',
  webhookId: 'id-1',
  url: 'https://receiver.example.com/',
  secrets: [{ sealed: 'sealed-1', createdAt: 1_000 }],
  status: 'ativo',
  suspensionReason: null,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...changes,
});

describe('an operator', () => {
  it.each([null, 'gone', 'operador'] as const)('suspends a webhook, suspended already or not: %s', async reason => {
    await store.create(
      webhook({ status: reason ? 'suspenso' : 'ativo', suspensionReason: reason, failingSince: 1_500 }),
    );
    const suspended = webhook({
      status: 'suspenso',
      suspensionReason: 'operador',
      failingSince: 1_500,
      updatedAt: 2_000,
    });
    expect(await operator.suspend(accountId, 'demanda.criada')).toEqual(suspended);
    expect(await store.reactivate(accountId, 'demanda.criada', 3_000)).toEqual(suspended);
  });

  it.each(['gone', 'sem_sucesso', 'operador'] as const)('ends any suspension: %s', async suspensionReason => {
    await store.create(webhook({ status: 'suspenso', suspensionReason, failingSince: 1_500 }));
    expect(await operator.reactivate(accountId, 'demanda.criada')).toEqual(webhook({ updatedAt: 2_000 }));
  });

  it('leaves an active webhook as it is', async () => {
    await store.create(webhook({ failingSince: 1_500 }));
    expect(await operator.reactivate(accountId, 'demanda.criada')).toEqual(webhook({ failingSince: 1_500 }));
  });

  it('finds nothing where there is nothing, and creates nothing', async () => {
    expect(await operator.suspend(accountId, 'demanda.criada')).toBeUndefined();
    expect(await operator.reactivate(accountId, 'demanda.criada')).toBeUndefined();
    expect(await store.list(accountId)).toEqual([]);
  });

  it('sees the webhooks of all accounts in order', async () => {
    await store.create(webhook({ evento: 'proposta.recebida' }));
    await store.create(webhook());
    const all = await operator.listAll();
    const keys = all.map(({ accountId: account, evento }) => `${account} ${evento}`);
    expect(keys).toEqual(keys.toSorted());
    expect(all.filter(found => found.accountId === accountId).map(({ evento }) => evento)).toEqual([
      'demanda.criada',
      'proposta.recebida',
    ]);
  });
});
