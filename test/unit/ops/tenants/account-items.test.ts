import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeClientRateLimit } from '../../../../lambdas/auth/protection/rate-limit.ts';
import { makeSessionStore } from '../../../../lambdas/auth/sessions/session-store.ts';
import {
  makeCountRegistration,
  makeRequestLimits,
  requestLimits,
} from '../../../../lambdas/delivery/api/request-limits.ts';
import { makeUnregisteredEvents } from '../../../../lambdas/delivery/intake/unregistered-events.ts';
import { withSlowAttempts } from '../../../../lambdas/delivery/lanes/slowness.ts';
import { makeSlownessStore } from '../../../../lambdas/delivery/lanes/slowness-store.ts';
import type { Replay } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import type { Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { makeWebhookStore } from '../../../../lambdas/webhooks/webhook-store.ts';
import { makeOperatorStore } from '../../../../ops/stores/operator-store.ts';
import { itemKinds, kindsWith } from '../../../../ops/tenants/item-kinds.ts';
import { tableNames } from '../../../../tools/support/tables.ts';
import { type OperatedTables, startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, aRecord, aWebhook } from '../../delivery/builders.ts';

const account = 'leaving';
const eventName = 'demanda.criada';
const now = () => Date.now();
let operated: OperatedTables;
let folder: string;
beforeAll(async () => {
  operated = await startOperatedTables();
  folder = await mkdtemp(join(tmpdir(), 'emissor-account-items-'));
});
afterAll(async () => {
  await operated.stop();
  await rm(folder, { recursive: true });
});

const time = now();
const log = { info: () => {}, warn: () => {}, error: () => {} };
const aReplay = (id: string): Replay => ({
  ...{ id, accountId: account, eventName, webhookId: 'webhook-1', state: 'running', sourceState: 'failed' },
  ...{ from: time - 1, to: time, startedAt: time, sent: 0, pass: 1 },
});

/**
 * Writes all kinds of an account's items. The linter requires every file that writes items here
 * (`lint/item-writers.grit`), because exports and deletions could miss the items from other files.
 */
const writers: Readonly<Record<string, () => Promise<unknown>>> = {
  'stores/client-store.ts': async () => {
    clientId = (await operated.createClient('Acme', `--account=${account}`)).clientId;
    await operated.json(`clients rotate-secret ${clientId}`);
  },
  'stores/user-store.ts': async () => {
    userId = (await operated.createUser(account, 'ana@example.com')).userId;
  },
  'auth/sessions/session-store.ts': async () => {
    const sessions = makeSessionStore(store('Sessions'));
    const owner = { userId, clientId, accountId: account, userVersion: 1, clientVersion: 1, scope: '' };
    const used = { counter: 1, keyId: 'key', createdAt: time, rotatedAt: time };
    const ends = { idleExpiresAt: time + 60_000, absoluteExpiresAt: time + 60_000 };
    // There are more sessions than fit in one batch of deletions.
    for (let at = 0; at < 60; at++)
      await sessions.createSession({ sessionId: `${userId}-${at}`, ...owner, ...used, ...ends });
  },
  'auth/protection/lockout.ts': async () => {
    const key = await operated.lockout.keyOf(clientId, 'ana@example.com');
    await operated.lockout.recordFailure(key, operated.lockout.failuresIn(undefined));
  },
  'auth/protection/rate-limit.ts': async () => {
    await makeClientRateLimit({ ...store('Lockouts'), limit: 9 }).count(clientId);
  },
  'delivery/store/delivery-store.ts': () => {
    const attempts = [aRecord(), aRecord({ number: 2 })];
    const wait = { nextAttemptAt: time, sweepAt: time, overdueCount: 0 };
    const times = { createdAt: time, scheduledAt: time };
    const delivery = aDelivery({ accountId: account, ...times, attempt: 3, attempts, wait });
    return makeDeliveryStore({ ...store('Deliveries') }).create(delivery);
  },
  'delivery/replay/replay-store.ts': async () => {
    const replays = makeReplayStore({ ...store('Deliveries') });
    await replays.start(aReplay('reenvio_1'), undefined);
    await replays.start(aReplay('reenvio_2'), await replays.findLatest(account, eventName));
  },
  'delivery/lanes/slowness-store.ts': () =>
    makeSlownessStore(store('Deliveries')).change({ accountId: account, eventName }, found =>
      withSlowAttempts(found, { slow: 2, quick: 0 }, time),
    ),
  'delivery/api/request-limits.ts': async () => {
    const parts = { ...store('Deliveries'), ...requestLimits, registrationLimit: 30 };
    await makeCountRegistration(parts)(account);
    const limits = makeRequestLimits(parts);
    await limits.countTest(account);
    await limits.countResend(account, eventName);
  },
  'delivery/intake/unregistered-events.ts': async () => {
    const unregisteredEvents = makeUnregisteredEvents({ ...store('Deliveries'), log });
    unregisteredEvents.record(account, eventName, time);
    await unregisteredEvents.settled();
  },
  'webhooks/webhook-store.ts': () => makeWebhookStore(store('Webhooks')).create(aWebhook({ accountId: account })),
  'stores/operator-store.ts': () => makeOperatorStore(store('Webhooks')).suspend(account, 'mensagem.recebida'),
};

let clientId = '';
let userId = '';
const store = (table: string) => ({ ...systemTime, dynamo: operated.database.dynamo, table, now });

const kindsOf = (table: string, item: Item) =>
  Object.entries(itemKinds).flatMap(([name, kind]) => (kind.table === table && kind.is(item) ? [name] : []));

/** Returns all items of the tables with their kinds. */
async function itemsByKind() {
  const found: { readonly item: Item; readonly kinds: readonly string[] }[] = [];
  for (const TableName of tableNames()) {
    for await (const { Items = [] } of paginateScan({ client: operated.database.client }, { TableName })) {
      found.push(...Items.map(item => ({ item, kinds: kindsOf(TableName, item) })));
    }
  }
  return found;
}

/** Exports the account. Returns the lines and their types. */
async function exported(file: string) {
  await operated.json(`accounts export ${account} --out ${file}`);
  const text = await readFile(file, 'utf8');
  const lines = text.trimEnd().split('\n');
  return { text, lines, types: lines.map(line => JSON.parse(line).type).sort() };
}

it('every item has exactly one kind, and is exported and deleted unless the kind has an exception', async () => {
  for (const runWriter of Object.values(writers)) await runWriter();
  const stored = await itemsByKind();
  expect(stored.filter(({ kinds }) => kinds.length !== 1)).toEqual([]);
  expect(Object.keys(itemKinds).filter(kind => !stored.some(({ kinds }) => kinds.includes(kind)))).toEqual([]);

  const [file, second] = [join(folder, 'account.ndjson'), join(folder, 'second.ndjson')];
  const { text, lines, types } = await exported(file);
  expect(new Set(types)).toEqual(new Set(kindsWith('exportedAs').map(kind => itemKinds[kind].exportedAs)));
  expect(types.filter(type => type === 'replay')).toHaveLength(2);
  expect(types.filter(type => type === 'session')).toHaveLength(60);
  expect(text).toContain('oops'); // the receiver's response
  expect(text).not.toMatch(/argon2|passwordHash|"hash"|encrypted/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  // An export restarts after an interruption within a line.
  await writeFile(`${second}.partial`, `${lines[0]}\n{"type":"delivery","id":"evt_cut`);
  expect((await exported(second)).types).toEqual(types);
  expect(await readdir(folder)).toEqual(['account.ndjson', 'second.ndjson']);

  await operated.json(`accounts delete ${account}`);
  const expected = Object.entries(itemKinds).flatMap(([name, kind]) =>
    'notDeleted' in kind && !kind.notDeleted.includes('deleted with') ? [name] : [],
  );
  const remaining = await itemsByKind();
  expect(new Set(remaining.flatMap(({ kinds }) => kinds))).toEqual(new Set(expected));
  for (const name of [account, clientId, userId]) expect(JSON.stringify(remaining)).not.toContain(name);
});

it('the export fails for an account without data, and for a file that cannot be written', async () => {
  const runExport = (id: string, ...more: string[]) => operated.run('accounts', 'export', id, ...more);
  expect(await runExport('nobody', '--out', join(folder, 'nothing.ndjson'))).toMatchObject({ code: 1, stdout: '' });
  expect((await readdir(folder)).filter(name => name.startsWith('nothing'))).toEqual([]);
  await writers['stores/user-store.ts']?.();
  const failure = { code: 1, stderr: expect.stringMatching(/Could not write .*\(ENOENT\)/) };
  expect(await runExport(account, '--out', join(folder, 'no', 'folder'))).toMatchObject(failure);
  expect(await runExport(account)).toMatchObject({ code: 2 });
});
