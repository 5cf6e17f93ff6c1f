import { DeleteCommand, GetCommand, PutCommand, type ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { EVENT_NAMES, type Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore, type WebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { makeOperatorStore } from '../../../ops/stores/operator-store.ts';
import { type Database, startDatabase } from '../../support/database/database.ts';
import { aWebhook } from '../delivery/builders.ts';

/* Tests each change to a webhook in each state (`docs/en/webhooks.md` and "Suspend and reactivate" in `docs/en/deliveries.md`). */

let database: Database;
let store: WebhookStore;
let operator: ReturnType<typeof makeOperatorStore>;
let accountId = '';
let accounts = 0;

beforeAll(async () => {
  database = await startDatabase('Webhooks');
  store = makeWebhookStore({ dynamo: database.dynamo, table: 'Webhooks' });
  operator = makeOperatorStore({ dynamo: database.dynamo, table: 'Webhooks', now: () => 2_000 });
});
afterAll(() => database.stop());
beforeEach(() => {
  accountId = `account-${++accounts}`;
});

const eventName = 'demanda.criada';
const common = { webhookId: 'id-1', url: 'https://receiver.example.com/hook', createdAt: 1_000, updatedAt: 1_000 };
const webhook = (changes: Partial<Webhook> = {}): Webhook =>
  aWebhook({ accountId, eventName, ...common, encryptedAuthorization: 'encrypted-authorization', ...changes });

/** The attributes that remain if a webhook is deleted during an operator's suspension. */
const hold = { status: 'suspended', suspensionReason: 'operator' } as const;
const replacement = { url: 'https://new.example.com/', encryptedAuthorization: undefined, updatedAt: 2_000 };
const table = { TableName: 'Webhooks' };
const Key = () => ({ accountId, eventName });
const item = async () => (await database.dynamo(new GetCommand({ ...table, Key: Key() }))).Item;
const put = (Item: object) => database.dynamo(new PutCommand({ ...table, Item: { ...Key(), ...Item } }));
const find = () => store.find(accountId, eventName);
const remove = () => store.remove(accountId, eventName, 2_000);

describe('a change to a webhook', () => {
  const failing = { failingSince: 1_500, failingMark: 10 };
  /** The states before a change. `hold` is an operator's suspension without a webhook. */
  const states = {
    nothing: undefined,
    active: failing,
    gone: { ...failing, status: 'suspended', suspensionReason: 'gone' },
    no_success: { ...failing, status: 'suspended', suspensionReason: 'no_success' },
    operator: { ...failing, ...hold },
    hold,
  } as const satisfies Record<string, Partial<Webhook> | undefined>;
  const names = Object.keys(states) as (keyof typeof states)[];

  const changes: Readonly<Record<string, (read: Webhook) => Promise<unknown>>> = {
    registration: () => store.create(webhook({ webhookId: 'id-2' })),
    'another URL': read => store.replace(read, replacement),
    'the same URL': read => store.replace(read, { ...replacement, url: read.url }),
    removal: remove,
    test: () => store.recordTest(accountId, eventName, 2_000),
    reactivation: () => store.reactivate(accountId, eventName, 2_000),
    "operator's suspension": () => operator.suspend(accountId, eventName),
    "operator's reactivation": () => operator.reactivate(accountId, eventName),
  };

  /** The states after a change, in the order of `states`. `!` resets failures, `+` announces a reactivation, and `-` announces a suspension. */
  const after: Readonly<Record<keyof typeof changes, readonly string[]>> = {
    registration: ['active!', 'active', 'gone', 'no_success', 'operator', 'operator!'],
    'another URL': ['nothing', 'active!', 'active!+', 'active!+', 'operator!', 'hold'],
    'the same URL': ['nothing', 'active', 'gone', 'no_success', 'operator', 'hold'],
    removal: ['nothing', 'nothing', 'nothing', 'nothing', 'hold', 'hold'],
    test: ['nothing', 'active', 'gone', 'no_success', 'operator', 'hold'],
    reactivation: ['nothing', 'active', 'active!+', 'active!+', 'operator', 'hold'],
    "operator's suspension": ['hold-', 'operator-', 'operator-', 'operator-', 'operator', 'hold'],
    "operator's reactivation": ['nothing', 'active', 'active!+', 'active!+', 'active!+', 'nothing'],
  };
  const cases = Object.entries(after).flatMap(([act, row]) => row.map((then, at) => [act, names[at], then] as const));

  it.each(cases)('%s in the state %s results in the state %s', async (act, before = 'nothing', then) => {
    const read = webhook(states[before]);
    const wasRegistered = before !== 'nothing' && before !== 'hold';
    if (before !== 'nothing') await put(wasRegistered ? read : { ...hold, updatedAt: 1_000 });
    const reported = await changes[act]?.(read);
    const found = await find();
    const { pendingAnnouncement, ...stored } = (await item()) ?? {};

    expect(summaryOf(stored, pendingAnnouncement)).toBe(then);
    const byOperator = found ? { outcome: 'changed', webhook: found } : { outcome: 'not_registered' };
    const results: Readonly<Record<string, unknown>> = {
      registration: wasRegistered ? undefined : found,
      removal: wasRegistered ? 'removed' : 'not_registered',
      "operator's suspension": byOperator,
      "operator's reactivation": before === 'nothing' ? undefined : byOperator,
    };
    expect(reported).toEqual(act in results ? results[act] : found);
    const { updatedAt, url, webhookId, testedAt } = found ?? {};
    const isUnchanged = updatedAt === 1_000 && testedAt === undefined;
    if (found && wasRegistered && isUnchanged) expect(found).toEqual(read);
    if (found)
      expect({ url, webhookId }).toEqual({
        url: act === 'another URL' ? replacement.url : read.url,
        webhookId: wasRegistered ? 'id-1' : 'id-2',
      });
    if (act === 'removal' && then === 'hold')
      expect(stored).toEqual({ ...Key(), ...hold, updatedAt: wasRegistered ? 2_000 : 1_000 });
    expect(testedAt).toBe(act === 'test' && found && before !== 'operator' ? 2_000 : undefined);
  });

  const summaryOf = (stored: Partial<Webhook>, pendingAnnouncement?: { type: string }) => {
    const { webhookId, status, suspensionReason, failingSince } = stored;
    const registered = status === 'active' ? 'active' : String(suspensionReason);
    const state = status === undefined ? 'nothing' : webhookId === undefined ? 'hold' : registered;
    const marks = { 'webhook.reactivated': '+', 'webhook.suspended': '-' }[pendingAnnouncement?.type ?? ''] ?? '';
    return `${state}${webhookId !== undefined && failingSince === undefined ? '!' : ''}${marks}`;
  };
});

it('list returns the webhooks of an account, sorted by event name', async () => {
  for (const name of EVENT_NAMES.toReversed()) await store.create(webhook({ eventName: name }));
  await store.create(webhook({ accountId: `${accountId}-other` }));
  expect((await store.list(accountId)).map(({ eventName }) => eventName)).toEqual([...EVENT_NAMES].sort());
  expect(await store.list('nobody')).toEqual([]);
});

it.each([
  ['a registration', undefined, 'UpdateItemCommand', () => store.create(webhook()), webhook],
  ['a removal', {}, 'DeleteItemCommand', remove, () => 'removed'],
  ['a removal of a webhook that an operator suspended', hold, 'PutItemCommand', remove, () => 'removed'],
])(
  '%s recognises its own write if the SDK repeats it after a lost response',
  async (_act, before, operation, act, reported) => {
    if (before) await store.create(webhook(before));
    database.repeatNext(operation);
    expect(await act()).toEqual(reported());
  },
);

it.each([
  ['DeleteItemCommand', {}],
  ['PutItemCommand', hold],
])('a removal preserves a webhook that is stored before the SDK repeats the %s', async (operation, before) => {
  await store.create(webhook(before));
  database.repeatNext(operation, () => store.create(webhook({ webhookId: 'id-2' })));
  expect(await remove()).toBe('removed');
  expect(await find()).toMatchObject({ webhookId: 'id-2' });
});

it('a registration recognises its own write even if its receiver suspends it before the SDK repeats it', async () => {
  const suspend = async () => put({ ...(await find()), ...hold, suspensionReason: 'gone', updatedAt: 2_000 });
  database.repeatNext('UpdateItemCommand', suspend);
  expect(await store.create(webhook())).toMatchObject({ webhookId: webhook().webhookId, suspensionReason: 'gone' });
});

describe('a replacement', () => {
  it.each([undefined, 'encrypted-new'])('replaces or removes the authorization: %s', async encryptedAuthorization => {
    await store.create(webhook());
    await store.replace(webhook(), { ...replacement, encryptedAuthorization });
    const { encryptedAuthorization: _, ...rest } = { ...webhook(), ...replacement, resetAt: 2_000 };
    expect(await find()).toEqual({ ...rest, ...(encryptedAuthorization && { encryptedAuthorization }) });
  });

  it.each([
    ['in upper case (WHATWG URL, host parsing)', 'HTTPS://Receiver.Example.COM/hook'],
    ['with its default port', 'https://receiver.example.com:443/hook'],
    ['with a dot segment', 'https://receiver.example.com/x/../hook'],
  ])('with the same URL %s does not end a suspension', async (_, url) => {
    const gone = { status: 'suspended', suspensionReason: 'gone' } as const;
    await store.create(webhook(gone));
    expect(await store.replace(webhook(gone), { ...replacement, url })).toMatchObject({ ...gone, url });
  });

  it.each<[string, Partial<Webhook>]>([
    ['another registration', { webhookId: 'id-0' }],
    ['another URL', { url: 'https://earlier.example.com/' }],
    ['a webhook that was not suspended yet', { status: 'active', suspensionReason: null }],
    ['a webhook that was suspended for another reason', { suspensionReason: 'operator' }],
  ])('fails if the caller read %s', async (_, earlier) => {
    const now = { status: 'suspended', suspensionReason: 'gone' } as const;
    await store.create(webhook(now));
    expect(await store.replace(webhook({ ...now, ...earlier }), replacement)).toBeUndefined();
    expect(await find()).toEqual(webhook(now));
  });
});

it.each([
  ['a webhook', undefined],
  ['a webhook that an operator suspended', hold],
])('a removal of %s reports a concurrent change', async (_case, state) => {
  if (state) await store.create(webhook(state));
  let registrations = 0;
  const dynamo: Dynamo = async command => {
    if (command instanceof DeleteCommand && !state) await database.dynamo(new DeleteCommand({ ...table, Key: Key() }));
    if (command instanceof GetCommand && !state) await store.create(webhook());
    if (command instanceof PutCommand) await put(webhook({ ...state, webhookId: `id-1${registrations++}` }));
    return database.dynamo(command);
  };
  const contendedStore = makeWebhookStore({ dynamo, table: 'Webhooks' });
  expect(await contendedStore.remove(accountId, eventName, 2_000)).toEqual({ remainingId: expect.any(String) });
});

describe('a secret replacement', () => {
  const next = [{ encrypted: 'encrypted-2', createdAt: 2_000 }];

  it('succeeds only if the registration and the secrets have not changed since the read', async () => {
    await store.create(webhook());
    expect(await store.replaceSecrets(webhook(), next, 2_000)).toBe(true);
    expect(await find()).toEqual(webhook({ secrets: next, updatedAt: 2_000 }));
    expect(await store.replaceSecrets(webhook(), next, 2_000)).toBe(true); // repeated
    expect(await store.replaceSecrets(webhook(), [{ encrypted: 'encrypted-3', createdAt: 3_000 }], 3_000)).toBe(false);
    await put(webhook({ webhookId: 'id-2' }));
    expect(await store.replaceSecrets(webhook({ webhookId: 'id-1' }), next, 2_000)).toBe(false);
    expect(await find()).toEqual(webhook({ webhookId: 'id-2' }));
  });
});

describe('an operator', () => {
  it('can find a suspension without a webhook', async () => {
    expect(await operator.find(accountId, eventName)).toBeUndefined();
    await operator.suspend(accountId, eventName);
    expect(await operator.find(accountId, eventName)).toEqual({ ...Key(), since: 2_000 });
  });

  it.each([
    [3, { read: 300, isCutOff: false, found: [{}, {}, { accountId: 'a2' }] }],
    [1_000, { read: 1_000, isCutOff: true }], // only the first ten pages are read
  ])(
    'reads at most ten of %i pages of suspended and failing webhooks, and reports whether pages remain',
    async (pages, reported) => {
      const dynamo = async ({ input }: ScanCommand) => {
        const page = Number(input.ExclusiveStartKey?.page ?? 0);
        const Items = [{ accountId: `a${page}`, eventName, status: 'suspended', updatedAt: 1 }];
        return { ScannedCount: 100, Items, ...(page + 1 < pages && { LastEvaluatedKey: { page: page + 1 } }) };
      };
      const endless = makeOperatorStore({ dynamo: dynamo as never, table: 'Webhooks', now: () => 0 });
      expect(await endless.listUnhealthy()).toMatchObject(reported);
    },
  );
});
