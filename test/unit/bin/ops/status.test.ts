import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type QueueService, startSqs } from '@emissor/local-cloud/sqs/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Status } from '../../../../bin/actions/status.ts';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { PutCommand } from '../../../../lambdas/platform/aws/documents.ts';
import { keyKinds } from '../../../../lambdas/platform/keyring.ts';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { aDelivery, aRecord } from '../../delivery/builders.ts';

const day = 86_400_000;
let database: Database;
let queues: QueueService;
let directory: string;

beforeAll(async () => {
  database = await startDatabase('Webhooks', 'Deliveries', 'Keyring');
  queues = await startSqs({ interceptors: [], onPublish: () => undefined });
  for (const name of ['events', 'retry', 'slow', 'dead']) queues.ensureQueue({ name, attributes: {} });
  directory = mkdtempSync(join(tmpdir(), 'emissor-ops-status-'));
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
  await queues.stop();
  await database.stop();
});

/** Runs `status` on the engines, with some outputs replaced or (`undefined`) left out. */
const status = (replaced: Record<string, string | undefined>, ...args: string[]) => {
  const outputs = {
    DynamoDbEndpoint: database.endpoint,
    SqsEndpoint: queues.endpoint,
    Region: database.region,
    WebhooksTable: 'Webhooks',
    DeliveriesTable: 'Deliveries',
    KeyringTable: 'Keyring',
    EventsQueueUrl: queues.urlOf('events'),
    RetryQueueUrl: queues.urlOf('retry'),
    SlowQueueUrl: queues.urlOf('slow'),
    DeadLetterQueueUrl: queues.urlOf('dead'),
    RotateKeysSettings: JSON.stringify({
      KEYRING_TABLE: 'Keyring',
      KEY_ARN: 'arn:aws:kms:us-east-1:000000000000:key/1',
      SIGNING_ALGORITHM: 'ES256',
      KEY_ROTATION_SECONDS: String((90 * day) / 1_000),
      ACCESS_TOKEN_SECONDS: '900',
      REFRESH_ABSOLUTE_SECONDS: '7776000',
    }),
    ...replaced,
  };
  writeFileSync(join(directory, 'outputs.json'), JSON.stringify(outputs));
  return runOpsInProcess(['--outputs', join(directory, 'outputs.json'), 'status', ...args]);
};

const read = async (replaced: Record<string, string | undefined> = {}): Promise<Status> => {
  const { code, stdout, stderr } = await status(replaced, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const put = (TableName: 'Webhooks' | 'Keyring', Item: Record<string, unknown>) =>
  database.dynamo.send(new PutCommand({ TableName, Item }));

const webhook = (accountId: string, more: Record<string, unknown> = {}) =>
  put('Webhooks', {
    accountId,
    eventName: 'demanda.criada',
    webhookId: 'w',
    url: 'https://receiver.example.com/',
    secrets: [],
    status: 'active',
    suspensionReason: null,
    createdAt: 1,
    updatedAt: Date.parse('2026-03-01T00:00:00Z'),
    ...more,
  });

const key = (kind: string, generation: number, activeFrom: number) =>
  put('Keyring', {
    kind,
    generation,
    keyId: `${kind}${generation}`,
    createdAt: 1,
    activeFrom,
    wrapped: Buffer.from('x'),
  });

describe('ops status', () => {
  it('says what is missing in a run without keys', async () => {
    const { keys, webhooks, problems, stacks } = await read();
    expect(stacks).toBeNull();
    expect(keys).toMatchObject([
      { kind: 'signing', keys: 0, activeSince: null, nextActiveFrom: null },
      { kind: 'mac', keys: 0 },
      { kind: 'sealing', keys: 0 },
    ]);
    expect(webhooks).toEqual({ read: 0, isCutOff: false, suspended: [], failing: [] });
    expect(problems).toHaveLength(3);
    expect(problems[0]).toMatch(/^there is no signing key/);
  });

  it('counts messages, finds webhooks that are suspended or fail, and tells when the next keys are due', async () => {
    const activeFrom = Date.now() - 10 * day;
    for (const kind of keyKinds) await key(kind, 1, activeFrom);
    await key('mac', 2, activeFrom + 11 * day);
    await webhook('sound');
    await webhook('fails', { failingSince: Date.parse('2026-03-02T00:00:00Z') });
    await webhook('gone', { status: 'suspended', suspensionReason: 'gone', failingSince: 1 });
    await put('Webhooks', {
      accountId: 'held',
      eventName: 'demanda.criada',
      status: 'suspended',
      suspensionReason: 'operator',
      updatedAt: Date.parse('2026-02-01T00:00:00Z'),
    });
    const [event, dead] = [queues.urlOf('events'), queues.urlOf('dead')];
    for (const url of [event, event, dead]) await send(url);

    const found = await read();
    const iso = (moment: number) => new Date(moment).toISOString();
    expect(found.keys).toEqual([
      {
        kind: 'signing',
        keys: 1,
        activeSince: iso(activeFrom),
        nextMadeAt: iso(activeFrom + 88 * day),
        nextActiveFrom: iso(activeFrom + 90 * day),
      },
      {
        kind: 'mac',
        keys: 2,
        activeSince: iso(activeFrom),
        nextMadeAt: null,
        nextActiveFrom: iso(activeFrom + 11 * day),
      },
      expect.objectContaining({ kind: 'sealing', keys: 1 }),
    ]);
    const event1 = 'demanda.criada';
    expect(found.webhooks).toEqual({
      read: 4,
      isCutOff: false,
      suspended: [
        { account: 'held', event: event1, reason: 'operador', since: '2026-02-01T00:00:00.000Z' },
        { account: 'gone', event: event1, reason: 'gone', since: '2026-03-01T00:00:00.000Z' },
      ],
      failing: [{ account: 'fails', event: event1, since: '2026-03-02T00:00:00.000Z' }],
    });
    expect(found.queues).toEqual(
      [
        ['events', 2],
        ['retry', 0],
        ['slow', 0],
        ['dead letters', 1],
      ].map(([queue, waiting]) => ({ queue, waiting, inFlight: 0, delayed: 0, oldestSeconds: null })),
    );
    expect(found.problems).toEqual([
      expect.stringMatching(/^1 dead letter: npm run ops -- dlq list/),
      expect.stringMatching(
        /^1 webhook had nothing but failures for over a day .*: npm run ops -- webhooks list --failing/,
      ),
      expect.stringMatching(/^1 webhook suspended for failing .*: npm run ops -- webhooks list --suspended/),
    ]);
    const { stdout } = await status({});
    expect(stdout).toMatch(/^events +2 +0 +0 +-$/m);
    expect(stdout).toMatch(/^2 suspended and 1 failing of 4$/m);
    expect(stdout).toMatch(/^mac +2 +\S+ +already +\S+$/m);
    expect(stdout).toContain('\nWhat needs you:\n- 1 dead letter');
  });

  it('tells what it can where a part cannot be read', async () => {
    const { keys, queues: part, webhooks } = await read({ RotateKeysSettings: undefined, SlowQueueUrl: undefined });
    expect(keys).toEqual({ unread: expect.stringContaining('has no output "RotateKeysSettings"') });
    expect(part).toEqual({ unread: expect.stringContaining('has no output "SlowQueueUrl"') });
    expect(webhooks).toMatchObject({ read: expect.any(Number) });
  });

  it('is refused where nothing can be read', async () => {
    const ended = 'http://127.0.0.1:9';
    const { code, stdout, stderr } = await status({ DynamoDbEndpoint: ended, SqsEndpoint: ended });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: nothing answers at the addresses in .*\n$/);
  });
});

const send = (queueUrl: string) =>
  fetch(queues.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SendMessage' },
    body: JSON.stringify({ QueueUrl: queueUrl, MessageBody: 'x' }),
  });

it('ops status names failed, held and stuck deliveries, each with a command', async () => {
  const now = Date.now();
  const store = makeDeliveryStore({ dynamo: database.dynamo, table: 'Deliveries', now: () => now, historyDays: 30 });
  const add = (id: string, changes: Partial<Delivery>) =>
    store.create(aDelivery({ id: `evt_${id}`, accountId: 'acme', createdAt: now - 3_600_000, ...changes }));
  const pending = (nextAttemptAt: number) => ({
    wait: { nextAttemptAt, sweepAt: nextAttemptAt + 120_000, overdueCount: 0 },
  });
  const failedByUs = [aRecord({ result: 'internal', status: null })];
  for (const id of ['f1', 'f2'])
    expect(await store.create(settled(aDelivery({ id, accountId: 'acme' }), 'failed', now))).toBe(true);
  expect(await store.create(settled(aDelivery({ id: 'h1', accountId: 'acme' }), 'held', now))).toBe(true);
  await add('own', { ...pending(now + 600_000), attempts: failedByUs });
  await add('late', pending(now - 3_000_000));
  await add('waits', pending(now + 5_000));
  const { deliveries, problems } = await read();
  expect(deliveries).toMatchObject({ isCutOff: false, failed: [{ account: 'acme', count: 2 }], held: [{ count: 1 }] });
  expect(problems.filter(problem => /deliver/.test(problem))).toEqual([
    expect.stringMatching(/own fault|fault of our own.* \(1 of .*deliveries show evt_own says/),
    expect.stringMatching(/overdue \(1 of .*deliveries show evt_late says/),
    expect.stringMatching(/^2 failed deliveries, 2 of account acme .*deliveries list --state falhou --account acme/),
    expect.stringMatching(/^1 held delivery, 1 of account acme .*deliveries list --state retida/),
  ]);
});
