import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { EVENT_NAMES, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore, type WebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { type Database, startDatabase } from '../../support/database/database.ts';

let database: Database;
let store: WebhookStore;
let accountId = '';
let accounts = 0;

beforeAll(async () => {
  database = await startDatabase('Webhooks');
  store = makeWebhookStore({ dynamo: database.dynamo, table: 'Webhooks' });
});
afterAll(() => database.stop());
beforeEach(() => {
  accountId = `account-${++accounts}`;
});

const webhook = (changes: Partial<Webhook> = {}): Webhook => ({
  accountId,
  eventName: 'demanda.criada',
  webhookId: 'id-1',
  url: 'https://receiver.example.com/hook',
  sealedAuthorization: 'sealed-authorization',
  secrets: [{ sealed: 'sealed-1', createdAt: 1_000 }],
  status: 'active',
  suspensionReason: null,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...changes,
});

/** The attributes that an operator's suspension leaves of a webhook that is deleted. */
const hold = { status: 'suspended', suspensionReason: 'operator' } as const;
const Key = () => ({ accountId, eventName: 'demanda.criada' });
const table = { TableName: 'Webhooks' };
const item = async () => (await database.dynamo(new GetCommand({ ...table, Key: Key() }))).Item;

describe('create', () => {
  it('keeps one webhook per event and account', async () => {
    expect(await store.create(webhook())).toEqual(webhook());
    expect(await store.create(webhook({ webhookId: 'id-2', url: 'https://other.example.com/' }))).toBeUndefined();
    expect(await store.find(accountId, 'demanda.criada')).toEqual(webhook());
    expect(await store.create(webhook({ eventName: 'demanda.cancelada' }))).toBeDefined();
    expect(await store.create(webhook({ accountId: `${accountId}-other` }))).toBeDefined();
  });

  it('has one winner among many at once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    const created = await Promise.all(ids.map(webhookId => store.create(webhook({ webhookId }))));
    expect(created.filter(Boolean)).toHaveLength(1);
  });

  it('recognises its own write when the SDK repeats it after a lost answer', async () => {
    database.repeatNext('UpdateItemCommand');
    expect(await store.create(webhook())).toEqual(webhook());
  });

  // The account deleted what an operator had suspended, registered it anew, and was active again.
  it('begins suspended when an operator suspended an earlier one', async () => {
    await store.create(webhook(hold));
    expect(await store.remove(accountId, 'demanda.criada', 2_000)).toBe('removed');
    expect(await store.create(webhook({ webhookId: 'id-2' }))).toEqual(webhook({ webhookId: 'id-2', ...hold }));
  });

  it('begins active when the earlier webhook was suspended for another reason', async () => {
    await store.create(webhook({ status: 'suspended', suspensionReason: 'gone' }));
    await store.remove(accountId, 'demanda.criada', 2_000);
    expect(await store.create(webhook({ webhookId: 'id-2' }))).toEqual(webhook({ webhookId: 'id-2' }));
  });
});

describe('list', () => {
  it('lists the account’s own webhooks by event name', async () => {
    for (const eventName of EVENT_NAMES.toReversed()) await store.create(webhook({ eventName }));
    await store.create(webhook({ accountId: `${accountId}-other` }));
    expect((await store.list(accountId)).map(({ eventName }) => eventName)).toEqual([...EVENT_NAMES].sort());
    expect(await store.list('nobody')).toEqual([]);
  });
});

describe('replace', () => {
  const replacement = { url: 'https://new.example.com/', sealedAuthorization: undefined, updatedAt: 2_000 };
  const replaced = async (before: Partial<Webhook>, changes: Partial<typeof replacement> = {}) => {
    await store.create(webhook(before));
    return store.replace(webhook(before), { ...replacement, ...changes });
  };

  it('replaces URL and authorization, and keeps the rest', async () => {
    const { sealedAuthorization: _, ...rest } = webhook();
    const expected = { ...rest, url: 'https://new.example.com/', updatedAt: 2_000 };
    expect(await replaced({ failingSince: 1_500, failingMark: 10 })).toEqual(expected);
    expect(await store.find(accountId, 'demanda.criada')).toEqual(expected);
  });

  it('stores a new authorization', async () => {
    const changed = { ...replacement, sealedAuthorization: 'sealed-new' };
    await store.create(webhook({ sealedAuthorization: undefined }));
    expect(await store.replace(webhook({ sealedAuthorization: undefined }), changed)).toMatchObject({
      sealedAuthorization: 'sealed-new',
    });
  });

  it.each(['gone', 'no_success'] as const)(
    'with a different URL ends a suspension for %s, and announces that',
    async reason => {
      const after = await replaced({ status: 'suspended', suspensionReason: reason });
      expect(after).toMatchObject({ status: 'active', suspensionReason: null, url: 'https://new.example.com/' });
      expect(await item()).toMatchObject({ announcements: [{ type: 'webhook.reactivated', since: 2_000 }] });
    },
  );

  it.each([
    ['the same', 'https://receiver.example.com/hook'],
    ['the same in capitals (WHATWG URL, host parsing)', 'HTTPS://Receiver.Example.COM/hook'],
    ['the same with its default port', 'https://receiver.example.com:443/hook'],
    ['the same with a dot segment', 'https://receiver.example.com/x/../hook'],
  ])('by %s URL ends no suspension', async (_, url) => {
    const after = await replaced({ status: 'suspended', suspensionReason: 'gone' }, { url });
    expect(after).toMatchObject({ status: 'suspended', suspensionReason: 'gone', url });
    expect(await item()).not.toHaveProperty('announcements');
  });

  it("changes the record only while an operator's suspension stands", async () => {
    expect(await replaced(hold)).toMatchObject({ ...hold, url: 'https://new.example.com/' });
  });

  it.each<[string, Partial<Webhook>]>([
    ['another registration', { webhookId: 'id-0' }],
    ['another URL', { url: 'https://earlier.example.com/' }],
    ['a webhook that was not suspended yet', { status: 'active', suspensionReason: null }],
    ['one that was suspended for another reason', { suspensionReason: 'operator' }],
  ])('holds for the webhook that was read: not for %s', async (_, earlier) => {
    const now = { status: 'suspended', suspensionReason: 'gone' } as const;
    await store.create(webhook(now));
    expect(await store.replace(webhook({ ...now, ...earlier }), replacement)).toBeUndefined();
    expect(await store.find(accountId, 'demanda.criada')).toEqual(webhook(now));
  });

  it('creates nothing', async () => {
    expect(await store.replace(webhook(), replacement)).toBeUndefined();
    expect(await item()).toBeUndefined();
  });
});

describe('remove', () => {
  it('tells whether there was a webhook', async () => {
    await store.create(webhook());
    expect(await store.remove(accountId, 'demanda.criada', 2_000)).toBe('removed');
    expect(await store.remove(accountId, 'demanda.criada', 2_000)).toBe('not_registered');
    expect(await item()).toBeUndefined();
  });

  it("keeps an operator's suspension and nothing else", async () => {
    await store.create(webhook(hold));
    expect(await store.remove(accountId, 'demanda.criada', 2_000)).toBe('removed');
    expect(await item()).toEqual({ ...Key(), ...hold, updatedAt: 2_000 });
    expect(await store.find(accountId, 'demanda.criada')).toBeUndefined();
    expect(await store.list(accountId)).toEqual([]);
    expect(await store.remove(accountId, 'demanda.criada', 3_000)).toBe('not_registered');
  });

  // It was answered 404 for what it had deleted itself.
  it.each([
    ['an active webhook', {}, 'DeleteItemCommand'],
    ['what an operator suspended', hold, 'PutItemCommand'],
  ])('recognises its own write of %s when the SDK repeats it after a lost answer', async (_, changes, operation) => {
    await store.create(webhook(changes));
    database.repeatNext(operation);
    expect(await store.remove(accountId, 'demanda.criada', 2_000)).toBe('removed');
    expect(await store.find(accountId, 'demanda.criada')).toBeUndefined();
  });

  // An account that deletes and registers side by side caused an error of ours.
  it('gives up when others change the webhook at each attempt', async () => {
    const dynamo: Dynamo = async command => {
      if (command instanceof DeleteCommand) await database.dynamo(new DeleteCommand({ ...table, Key: Key() }));
      if (command instanceof GetCommand) await store.create(webhook());
      return database.dynamo(command);
    };
    const contended = makeWebhookStore({ dynamo, table: 'Webhooks' });
    expect(await contended.remove(accountId, 'demanda.criada', 2_000)).toBe('contended');
  });
});

describe('noteTest', () => {
  it('stores the time of the test, also while suspended', async () => {
    await store.create(webhook({ status: 'suspended', suspensionReason: 'gone' }));
    expect(await store.noteTest(accountId, 'demanda.criada', 2_000)).toMatchObject({
      webhookId: 'id-1',
      testedAt: 2_000,
    });
  });

  it('stores nothing while an operator suspends, whatever was read before', async () => {
    await store.create(webhook(hold));
    expect(await store.noteTest(accountId, 'demanda.criada', 2_000)).toEqual(webhook(hold));
  });

  it('creates no webhook where there is none, nor from an operator’s suspension', async () => {
    expect(await store.noteTest(accountId, 'demanda.criada', 2_000)).toBeUndefined();
    await store.create(webhook(hold));
    await store.remove(accountId, 'demanda.criada', 2_000);
    expect(await store.noteTest(accountId, 'demanda.criada', 2_000)).toBeUndefined();
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toBeUndefined();
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
  it.each(['gone', 'no_success'] as const)('ends a suspension for %s', async suspensionReason => {
    await store.create(webhook({ status: 'suspended', suspensionReason, failingSince: 1_500, failingMark: 10 }));
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toEqual(webhook({ updatedAt: 2_000 }));
    expect(await item()).toMatchObject({
      announcements: [{ type: 'webhook.reactivated', since: 2_000, reason: null, lastResult: null, deliveryId: null }],
    });
  });

  it('leaves an active webhook as it is', async () => {
    await store.create(webhook({ failingSince: 1_500 }));
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toEqual(webhook({ failingSince: 1_500 }));
    expect(await item()).not.toHaveProperty('announcements');
  });

  it("does not end an operator's suspension", async () => {
    const suspended = webhook({ status: 'suspended', suspensionReason: 'operator' });
    await store.create(suspended);
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toEqual(suspended);
  });

  it('gives undefined when there is no webhook', async () => {
    expect(await store.reactivate(accountId, 'demanda.criada', 2_000)).toBeUndefined();
  });
});
