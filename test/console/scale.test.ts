import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settled } from '../../lambdas/delivery/delivery.ts';
import { itemFromDelivery } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { makeOperatorSource } from '../../ops/console/operator-source.ts';
import { documentOf } from '../../ops/console/page.ts';
import { answerPage } from '../../ops/console/pages/pages.ts';
import { sayingIn, textsOf } from '../../ops/console/texts.ts';
import { localTarget } from '../../ops/stage/target.ts';
import { tableNames } from '../../tools/support/tables.ts';
import { type Database, startDatabase } from '../support/database/database.ts';
import { aDelivery, aWebhook, noon } from '../unit/delivery/builders.ts';

const [webhooks, deliveries] = [2_000, 20_000];
let database: Database;
beforeAll(async () => {
  database = await startDatabase(...tableNames());
  await seed('Webhooks', webhooks, number => ({
    ...aWebhook({
      accountId: `account-${Math.floor(number / 8)}`,
      eventName: EVENT_NAMES[number % 8] ?? 'demanda.criada',
    }),
    ...(number % 10 === 0 && { failingSince: noon }),
  }));
  await seed('Deliveries', deliveries, number => {
    const id = `evt_${String(number).padStart(27, '0')}`;
    const delivery = aDelivery({ id, accountId: 'account-0', createdAt: noon + number * 100 });
    return itemFromDelivery(settled(delivery, number % 3 === 0 ? 'failed' : 'delivered', noon), 30);
  });
}, 600_000);
afterAll(() => database.stop());

const seed = async (table: string, count: number, item: (number: number) => object) => {
  for (let first = 0; first < count; first += 25) {
    const puts = Array.from({ length: 25 }, (_, at) => ({
      PutRequest: { Item: item(first + at) as Record<string, unknown> },
    }));
    await database.dynamo(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
};

const webhook = '/accounts/account-0/webhooks/demanda.criada';
it.each([
  ['Account', '/accounts/account-0', 60],
  ['Webhook', webhook, 20],
  ['Webhook, of a rare state', `${webhook}?state=retida`, 20],
  ['Webhook, failed in a minute', `${webhook}?state=falhou&since=2026-11-20T12:10&until=2026-11-20T12:11`, 20],
  ['Delivery', `${webhook}/deliveries/evt_${String(10_001).padStart(27, '0')}`, 5],
])('the page %s is under 100 kB and takes few calls', async (_, path, most) => {
  const outputs = Object.fromEntries(tableNames().map(name => [`${name}Table`, name]));
  let calls = 0;
  const dynamo: Dynamo = (command, options) => {
    calls += 1;
    return database.dynamo(command, options);
  };
  const target = { ...localTarget({ ...outputs, Region: database.region }), dynamo };
  const context = {
    source: makeOperatorSource(target),
    language: 'en',
    texts: textsOf('en'),
    say: sayingIn('en'),
    folder: '/x',
    path,
    query: new URL(path, 'http://127.0.0.1').searchParams,
    now: noon,
  } as const;
  const answer = await answerPage(context, null);
  if ('location' in answer) throw new Error('A page answers.');
  expect(answer.status ?? 200).toBe(200);
  expect(Buffer.byteLength(documentOf(answer, context))).toBeLessThan(100_000);
  expect(calls).toBeGreaterThan(0);
  expect(calls).toBeLessThanOrEqual(most);
  console.log(`${path}: ${calls} calls`);
});
