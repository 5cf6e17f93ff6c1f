import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSlowAttempts } from '../../../lambdas/delivery/lanes/slowness.ts';
import { makeSlownessStore } from '../../../lambdas/delivery/lanes/slowness-store.ts';
import type { EventName, Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { startOperatedTables } from '../../support/operated-tables.ts';
import { aWebhook, noon } from '../delivery/builders.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const put = (TableName: string, Item: object) => operated.database.dynamo(new PutCommand({ TableName, Item }));
const listed = <Item>(...args: string[]): Promise<Item[]> => operated.ask(args);

describe('ops webhooks list', () => {
  beforeAll(async () => {
    const register = (accountId: string, eventName: EventName, changes: Partial<Webhook> = {}) =>
      put('Webhooks', aWebhook({ accountId, eventName, ...changes }));
    await register('acme', 'demanda.criada');
    await register('acme', 'demanda.cancelada', { failingSince: noon });
    await register('bolt', 'demanda.criada', { status: 'suspended', suspensionReason: 'gone' });
    await register('bolt', 'proposta.recebida');
    const hold = { accountId: 'bolt', eventName: 'demanda.finalizada', updatedAt: noon };
    await put('Webhooks', { ...hold, status: 'suspended', suspensionReason: 'operator' });
    const slowness = makeSlownessStore({ dynamo: operated.database.dynamo, table: 'Deliveries', now: () => noon });
    const slow = { slow: 2, quick: 0 };
    await slowness.change({ accountId: 'bolt', eventName: 'proposta.recebida' }, found =>
      withSlowAttempts(found, slow, noon),
    );
  });

  const names = async (...args: string[]) =>
    (await listed<{ accountId: string; evento: string }>('webhooks', 'list', ...args)).map(
      ({ accountId, evento }) => `${accountId} ${evento}`,
    );

  it.each<[string[], string[]]>([
    [['--failing'], ['acme demanda.cancelada']],
    [['--slow'], ['bolt proposta.recebida']],
    [['--suspended'], ['bolt demanda.criada', 'bolt demanda.finalizada']],
    [['--suspended', '--account', 'acme'], []],
    [
      ['--failing', '--slow'],
      ['acme demanda.cancelada', 'bolt proposta.recebida'],
    ],
    [
      ['--account', 'acme'],
      ['acme demanda.cancelada', 'acme demanda.criada'],
    ],
    [['--status', 'suspenso', '--slow'], []],
  ])('%j', async (args, expected) => {
    expect(await names(...args)).toEqual(expected);
  });

  it('reads the webhooks of an account, and no others, where one is named', async () => {
    operated.database.operations.length = 0;
    await names('--account', 'bolt');
    expect(operated.database.operations.join()).not.toContain('Scan');
  });
});

describe('ops users list', () => {
  const user = (number: number, accountId: string) => ({
    userId: `user${number}`,
    email: `${number}@${accountId}.example`,
    credentialVersion: 1,
    version: 1,
    accountId,
    role: 'member',
    status: 'enabled',
    createdAt: noon,
    updatedAt: noon,
  });

  beforeAll(async () => {
    for (let number = 0; number < 9; number++) await put('Users', user(number, number % 3 === 0 ? 'acme' : 'bolt'));
  });

  it('lists those of an account, by e-mail address', async () => {
    const found = await listed<{ email: string }>('users', 'list', '--account', 'acme');
    expect(found.map(({ email }) => email)).toEqual(['0@acme.example', '3@acme.example', '6@acme.example']);
    expect(await listed('users', 'list', '--account', 'nobody')).toEqual([]);
  });

  it('pages through those of an account', async () => {
    const page = (...args: string[]) =>
      listed<{ userId: string }>('users', 'list', '--account', 'bolt', '--limit', '4', ...args);
    const first = await page();
    const second = await page('--after', first.at(-1)?.userId ?? '');
    expect([first.length, second.length]).toEqual([4, 2]);
    expect(new Set([...first, ...second].map(({ userId }) => userId)).size).toBe(6);
  });
});
