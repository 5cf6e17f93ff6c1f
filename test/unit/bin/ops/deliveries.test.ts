import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { BatchWriteCommand } from '../../../../lambdas/platform/aws/documents.ts';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { aDelivery, noon } from '../../delivery/builders.ts';

let database: Database;
let directory: string;

beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
  directory = mkdtempSync(join(tmpdir(), 'emissor-ops-deliveries-'));
  const tables = { DeliveriesTable: 'Deliveries', WebhooksTable: 'Webhooks' };
  const outputs = { ...tables, DynamoDbEndpoint: database.endpoint, Region: database.region };
  writeFileSync(join(directory, 'outputs.json'), JSON.stringify(outputs));
  await fill(4_500, 'acme', 'failed'); // more than a page of the index
  await fill(30, 'acme', 'delivered');
  await fill(3, 'acme', 'pending');
  await fill(7, 'bolt', 'failed', { eventName: 'demanda.cancelada' });
  await fill(9, 'bolt', 'held');
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
  await database.stop();
});

/** Stores deliveries that were accepted one a second from noon on. */
const fill = async (count: number, accountId: string, state: DeliveryState, changes: Partial<Delivery> = {}) => {
  const made = Array.from({ length: count }, (_, number) => {
    const id = `evt_${accountId}${state.slice(0, 4)}${String(number).padStart(19, '0')}`;
    const delivery = aDelivery({ id, accountId, createdAt: noon + number * 1_000, ...changes });
    if (state !== 'pending') return settled(delivery, state, noon);
    return { ...delivery, wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0 } };
  });
  for (let first = 0; first < count; first += 25) {
    const some = made.slice(first, first + 25);
    const puts = some.map(delivery => ({ PutRequest: { Item: itemFromDelivery(delivery, 30) } }));
    await database.dynamo.send(new BatchWriteCommand({ RequestItems: { Deliveries: puts } }));
  }
};

const list = (...args: string[]) =>
  runOpsInProcess(['--outputs', join(directory, 'outputs.json'), 'deliveries', 'list', ...args]);
const listed = async (...args: string[]) => {
  const { code, stdout, stderr } = await list('--json', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

const newest = (count: number) => new Date(noon + (count - 1) * 1_000).toISOString();
const failing = [
  { accountId: 'acme', evento: 'demanda.criada', state: 'falhou', count: 4_500, newestAcceptedAt: newest(4_500) },
  { accountId: 'bolt', evento: 'demanda.cancelada', state: 'falhou', count: 7, newestAcceptedAt: newest(7) },
];
const others = [
  { accountId: 'bolt', evento: 'demanda.criada', state: 'retida', count: 9, newestAcceptedAt: newest(9) },
  { accountId: 'acme', evento: 'demanda.criada', state: 'pendente', count: 3, newestAcceptedAt: newest(3) },
];

describe('ops deliveries list', () => {
  it('counts failed deliveries of all accounts, the greatest numbers first', async () => {
    expect(await listed('--state', 'falhou')).toEqual(failing);
    const { stdout } = await list('--state', 'falhou');
    expect(stdout.split('\n')[0]).toBe('ACCOUNT  EVENT              STATE   DELIVERIES  NEWEST ACCEPTED');
    expect(stdout.split('\n')[1]).toBe('acme     demanda.criada     falhou  4500        2026-11-20T13:14:59.000Z');
  });

  it('counts undelivered deliveries of all accounts, of one, or of an event', async () => {
    expect(await listed()).toEqual([failing[0], others[0], failing[1], others[1]]);
    expect(await listed('--limit', '2')).toEqual([failing[0], others[0]]);
    expect(await listed('--account', 'bolt')).toEqual([others[0], failing[1]]);
    expect(await listed('--event', 'demanda.criada', '--state', 'retida')).toEqual([others[0]]);
    expect((await list('--account', 'nobody')).stdout).toBe('No such deliveries.\n');
  });

  it('lists the deliveries of one webhook, newest first', async () => {
    const named = ['--account', 'acme', '--event', 'demanda.criada'];
    const waiting = await listed(...named, '--state', 'pendente');
    expect(waiting.map(({ createdAt }: { createdAt: string }) => createdAt)).toEqual([newest(3), newest(2), newest(1)]);
    expect(await listed(...named, '--state', 'entregue')).toHaveLength(30);
    expect(await listed(...named, '--state', 'falhou', '--limit', '250')).toHaveLength(250);
  });

  it.each([[[]], [['--account', 'acme']]])('does not count what is delivered: %j', async args => {
    const { code, stdout, stderr } = await list('--state', 'entregue', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe('error: --state entregue needs --account and --event.\n');
  });
});
