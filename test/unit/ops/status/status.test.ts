import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import { dueKey } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import type { Status } from '../../../../ops/status/status.command.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { aDelivery, aRecord, aWebhook } from '../../delivery/builders.ts';

// `ops status` shows the state of a stage and its problems (contract, section 7). status-problems.test.ts tests the problems.

const day = 86_400_000;
const iso = (time: number) => new Date(time).toISOString();
const operated = await startOperatedTables();
afterAll(() => operated.stop());

/** Runs `status` with changed outputs. `undefined` removes an output. */
const status = (outputs: Record<string, string | undefined>, ...options: string[]) =>
  operated.under({ outputs }).run('status', ...options);

const read = async (replaced: Record<string, string | undefined> = {}): Promise<Status> => {
  const { code, stdout, stderr } = await status(replaced, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const { put } = operated;

describe('ops status', () => {
  it('shows queue sizes, suspended and failing webhooks, and the due times of the next keys', async () => {
    const activeFrom = Date.now() - 10 * day;
    for (const key of await operated.items('Keyring')) await put('Keyring', { ...key, activeFrom });
    const next = { kind: 'mac', generation: 2, keyId: 'next', createdAt: 1, activeFrom: activeFrom + 11 * day };
    await put('Keyring', { ...next, wrapped: Buffer.from('x') });
    const [february, march] = [Date.parse('2026-02-01T00:00:00Z'), Date.parse('2026-03-01T00:00:00Z')];
    await put(
      'Webhooks',
      aWebhook({ accountId: 'sound' }),
      aWebhook({ accountId: 'fails', failingSince: march }),
      aWebhook({ accountId: 'gone', status: 'suspended', suspensionReason: 'gone', failingSince: 1, updatedAt: march }),
    );
    const held = { accountId: 'held', eventName: 'demanda.criada', updatedAt: february };
    await put('Webhooks', { ...held, status: 'suspended', suspensionReason: 'operator' });
    for (const queue of ['events', 'events', 'dead'] as const) await operated.send(queue, 'x');

    const found = await read();
    const activeSince = iso(activeFrom);
    const [dueAt, dueFrom] = [iso(activeFrom + 88 * day), iso(activeFrom + 90 * day)];
    expect(found.stacks).toBeNull();
    expect(found.keys).toEqual([
      { kind: 'signing', keys: 1, activeSince, nextCreatedAt: dueAt, nextActiveFrom: dueFrom },
      { kind: 'mac', keys: 2, activeSince, nextCreatedAt: null, nextActiveFrom: iso(activeFrom + 11 * day) },
      expect.objectContaining({ kind: 'encryption', keys: 1 }),
    ]);
    const event = 'demanda.criada';
    expect(found.webhooks).toEqual({
      read: 4,
      isCutOff: false,
      suspended: expect.arrayContaining([
        { account: 'gone', event, reason: 'gone', updatedAt: iso(march) },
        { account: 'held', event, reason: 'operador', updatedAt: iso(february) },
      ]),
      failing: [{ account: 'fails', event, since: iso(march) }],
    });
    const waiting = { events: 2, retry: 0, slow: 0, 'dead letters': 1 };
    const noOthers = { inFlight: 0, delayed: 0, oldestSeconds: null };
    expect(found.queues).toEqual(Object.entries(waiting).map(([queue, waiting]) => ({ queue, waiting, ...noOthers })));
    expect(found.problems).toEqual([
      expect.stringMatching(/^1 dead-letter message\. "npm run ops -- dlq list"/),
      expect.stringMatching(/^1 webhook failing for over a day .*\. Run: npm run ops -- webhooks list --failing/),
      expect.stringMatching(/^1 webhook suspended after failures \(gone for demanda\.criada\)\. .* list --suspended/),
    ]);
    const { stdout } = await status({});
    expect(stdout).toMatch(/^events +2 +0 +0 +-$/m);
    expect(stdout).toMatch(/^2 suspended and 1 failing of 4$/m);
    expect(stdout).toMatch(/^gone +demanda\.criada +suspended: gone +-$/m);
    expect(stdout).toMatch(/^mac +2 +\S+ +already +\S+$/m);
    expect(stdout).toContain('\nProblems:\n- 1 dead-letter message');
  });

  it('reports the readable parts, and the errors of the other parts', async () => {
    const { keys, queues: part, webhooks } = await read({ KeyringTable: undefined, SlowQueueUrl: undefined });
    expect(keys).toEqual({ unread: expect.stringContaining('has no output "KeyringTable"') });
    expect(part).toEqual({ unread: expect.stringContaining('has no output "SlowQueueUrl"') });
    expect(webhooks).toMatchObject({ read: expect.any(Number) });
  });

  it('fails if it cannot read any part', async () => {
    const ended = 'http://127.0.0.1:9';
    const { code, stdout, stderr } = await status({ DynamoDbEndpoint: ended, SqsEndpoint: ended });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: No service responds at the addresses in .*\n$/);
  });
});

describe('ops status for deliveries', () => {
  const minute = 60_000;
  const now = Date.now();
  const stored = { ...systemTime, dynamo: operated.database.dynamo, table: 'Deliveries', now: () => now };
  const add = async (id: string, changes: Partial<Delivery>) => {
    const delivery = aDelivery({ accountId: 'acme', createdAt: now - 60 * minute, ...changes, id: `evt_${id}` });
    expect(await makeDeliveryStore(stored).create(delivery)).toBe(true);
  };
  const due = (at: number) => ({ wait: { nextAttemptAt: at, sweepAt: at + 2 * minute, overdueCount: 0 } });
  beforeAll(async () => {
    for (const id of ['f1', 'f2']) await add(id, settled(aDelivery({ accountId: 'acme' }), 'failed', now));
    await add('h1', settled(aDelivery({ accountId: 'acme' }), 'held', now));
    const attempts = [aRecord({ result: 'internal', status: null })];
    await add('own', { ...due(now + 10 * minute), attempts, internalErrors: 1 });
    await add('replayed', { ...due(now + 10 * minute), attempts });
    await add('late1', due(now - 50 * minute));
    await add('late2', due(now - 4 * minute));
    await add('soon', due(now + 5_000));
    await add('recent', due(now - 2 * minute));
  });

  it('shows failed, held and overdue deliveries by account, event and cause, with a command and a runbook section', async () => {
    const { deliveries, problems } = await read();
    const event = 'demanda.criada';
    const since = (ago: number) => iso(now - ago * minute);
    const groups = [
      { account: 'acme', event, cause: 'overdue', count: 2, since: since(50), first: 'evt_late1' },
      { account: 'acme', event, cause: 'internal error', count: 1, since: since(-10), first: 'evt_own' },
    ];
    expect(deliveries).toMatchObject({ failed: [{ account: 'acme', count: 2 }], held: [{ count: 1 }] });
    expect(deliveries).toMatchObject({ late: { isCutOff: false, groups } });
    expect((await status({})).stdout).toMatch(/^acme +demanda\.criada +overdue +2 +2/m);
    expect(problems.filter(problem => /deliver/.test(problem))).toEqual([
      expect.stringMatching(
        /^2 deliveries of account acme .* overdue since .*deliveries show evt_late1" .*"RetriesLate"\.$/,
      ),
      expect.stringMatching(
        /^1 delivery of account acme .* internal error, .*deliveries show evt_own" .*"InternalErrors"\.$/,
      ),
      expect.stringMatching(/^2 failed deliveries, 2 of account acme .*deliveries list --state failed --account acme/),
      expect.stringMatching(/^1 held delivery, 1 of account acme .*deliveries list --state held/),
    ]);
  });

  it('reports that it did not read all deliveries', async () => {
    const late = Array.from({ length: 275 }, (_, number) => ({
      ...{ id: `x${number}`, part: 'head', dueShard: '3', dueAt: dueKey(now, `x${number}`), ttl: 1 },
    }));
    await put('Deliveries', ...late);
    expect((await status({})).stdout).toContain('not all pending deliveries were read, so more may be overdue');
  });
});

it('reports missing keys', async () => {
  for (const { kind, generation } of await operated.items('Keyring'))
    await operated.database.dynamo(new DeleteCommand({ TableName: 'Keyring', Key: { kind, generation } }));
  const { keys, problems } = await read();
  const none = { keys: 0, activeSince: null, nextCreatedAt: null, nextActiveFrom: null };
  expect(keys).toEqual(['signing', 'mac', 'encryption'].map(kind => ({ kind, ...none })));
  expect(problems.filter(problem => /^there is no \w+ key/.test(problem))).toHaveLength(3);
});
