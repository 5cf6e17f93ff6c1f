import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_NAMES, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore, type WebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

let database: Dynalite;
let store: WebhookStore;
let accountId = '';
let accounts = 0;

beforeAll(async () => {
  database = await startDynalite('Webhooks');
  store = makeWebhookStore({ documents: database.documents, tableName: 'Webhooks' });
});
afterAll(() => database.stop());
beforeEach(() => {
  accountId = `account-${++accounts}`;
});

const webhook = (changes: Partial<Webhook> = {}): Webhook => ({
  accountId,
  evento: 'demanda.criada',
  webhookId: 'id-1',
  url: 'https://receiver.example.com/hook',
  sealedAuthorization: 'sealed-authorization',
  secrets: [{ sealed: 'sealed-1', createdAt: 1_000 }],
  status: 'ativo',
  suspensionReason: null,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...changes,
});

describe('create', () => {
  it('keeps one webhook per event and account', async () => {
    expect(await store.create(webhook())).toBe(true);
    expect(await store.create(webhook({ webhookId: 'id-2', url: 'https://other.example.com/' }))).toBe(false);
    expect(await store.find(accountId, 'demanda.criada')).toEqual(webhook());
    expect(await store.create(webhook({ evento: 'demanda.cancelada' }))).toBe(true);
    expect(await store.create(webhook({ accountId: `${accountId}-other` }))).toBe(true);
  });

  it('has one winner among many at once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    const created = await Promise.all(ids.map(webhookId => store.create(webhook({ webhookId }))));
    expect(created.filter(Boolean)).toHaveLength(1);
  });

  it('knows its own write when it is repeated because the answer got lost', async () => {
    expect(await store.create(webhook())).toBe(true);
    expect(await store.create(webhook())).toBe(true);
  });
});

describe('list', () => {
  it('gives the account its own webhooks, by event name', async () => {
    for (const evento of EVENT_NAMES.toReversed()) await store.create(webhook({ evento }));
    await store.create(webhook({ accountId: `${accountId}-other` }));
    expect((await store.list(accountId)).map(({ evento }) => evento)).toEqual([...EVENT_NAMES].sort());
    expect(await store.list('nobody')).toEqual([]);
  });
});

describe('replace', () => {
  const replacement = { url: 'https://new.example.com/', sealedAuthorization: undefined, updatedAt: 2_000 };

  it('takes everything replaceable from the replacement and keeps the rest', async () => {
    await store.create(webhook({ failingSince: 1_500, status: 'suspenso', suspensionReason: 'gone' }));
    const { sealedAuthorization: _, ...rest } = webhook({ status: 'suspenso', suspensionReason: 'gone' });
    const expected = { ...rest, url: 'https://new.example.com/', updatedAt: 2_000 };
    expect(await store.replace(accountId, 'demanda.criada', replacement)).toEqual(expected);
    expect(await store.find(accountId, 'demanda.criada')).toEqual(expected);
  });

  it('stores a new authorization', async () => {
    await store.create(webhook({ sealedAuthorization: undefined }));
    const changed = { ...replacement, sealedAuthorization: 'sealed-new' };
    expect(await store.replace(accountId, 'demanda.criada', changed)).toMatchObject({
      sealedAuthorization: 'sealed-new',
    });
  });

  it('creates nothing', async () => {
    expect(await store.replace(accountId, 'demanda.criada', replacement)).toBeUndefined();
    expect(await store.find(accountId, 'demanda.criada')).toBeUndefined();
  });
});

describe('remove', () => {
  it('says whether there was one', async () => {
    await store.create(webhook());
    expect(await store.remove(accountId, 'demanda.criada')).toBe(true);
    expect(await store.remove(accountId, 'demanda.criada')).toBe(false);
    expect(await store.find(accountId, 'demanda.criada')).toBeUndefined();
  });
});

describe('replaceSecrets', () => {
  const next = [{ sealed: 'sealed-2', createdAt: 2_000 }];

  it('holds for the webhook and secrets that were read', async () => {
    await store.create(webhook());
    expect(await store.replaceSecrets(webhook(), next, 2_000)).toBe(true);
    expect(await store.find(accountId, 'demanda.criada')).toEqual(webhook({ secrets: next, updatedAt: 2_000 }));
    expect(await store.replaceSecrets(webhook(), next, 2_000)).toBe(true); // repeated
    expect(await store.replaceSecrets(webhook(), [{ sealed: 'sealed-3', createdAt: 3_000 }], 3_000)).toBe(false);
  });

  it('does not touch a later registration', async () => {
    await store.create(webhook({ webhookId: 'id-2' }));
    expect(await store.replaceSecrets(webhook({ webhookId: 'id-1' }), next, 2_000)).toBe(false);
    expect(await store.find(accountId, 'demanda.criada')).toEqual(webhook({ webhookId: 'id-2' }));
  });
});

describe('reactivate', () => {
  it.each(['gone', 'sem_sucesso'] as const)('ends a suspension for %s', async suspensionReason => {
    await store.create(webhook({ status: 'suspenso', suspensionReason, failingSince: 1_500 }));
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toEqual(webhook({ updatedAt: 2_000 }));
  });

  it('leaves an active webhook as it is', async () => {
    await store.create(webhook({ failingSince: 1_500 }));
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toEqual(webhook({ failingSince: 1_500 }));
  });

  it("does not end an operator's suspension", async () => {
    const suspended = webhook({ status: 'suspenso', suspensionReason: 'operador' });
    await store.create(suspended);
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toEqual(suspended);
  });

  it('finds nothing where there is nothing', async () => {
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toBeUndefined();
  });
});
