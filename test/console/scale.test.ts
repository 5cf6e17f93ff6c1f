import { startSqs } from '@emissor/local-cloud/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settled } from '../../lambdas/delivery/delivery.ts';
import { itemFromDelivery } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { makeOperatorSource } from '../../ops/console/operator-source.ts';
import { documentOf } from '../../ops/console/page.ts';
import { answerPage } from '../../ops/console/pages/pages.ts';
import { localTarget } from '../../ops/stage/target.ts';
import { thisWorld, type World } from '../../ops/stage/world.ts';
import { tableNames } from '../../tools/support/tables.ts';
import { type Database, startDatabase } from '../support/database/database.ts';
import { putAll } from '../support/database/put-all.ts';
import { aDelivery, aWebhook, noon } from '../unit/delivery/builders.ts';
import { aContext } from '../unit/ops/console/a-source.ts';

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
    return itemFromDelivery(settled(delivery, number % 3 === 0 ? 'failed' : 'delivered', noon));
  });
}, 600_000);
afterAll(() => database.stop());

const seed = (table: string, count: number, item: (number: number) => object) => {
  const items = Array.from({ length: count }, (_, number) => item(number));
  return putAll(database.dynamo, table, items);
};

const webhook = '/accounts/account-0/webhooks/demanda.criada';
it.each([
  ['Account', '/accounts/account-0', 2 + 8 * 18], // the newest delivery of each webhook is in one of 16 parts of an index
  ['Webhook', webhook, 45],
  ['Webhook, of a rare state', `${webhook}?state=retida`, 45],
  ['Webhook, of thirty days', `${webhook}?range=30d`, 45],
  ['Webhook, failed in a minute', `${webhook}?state=falhou&since=2026-11-20T12:10Z&until=2026-11-20T12:11Z`, 45],
  ['Question before a replay', `${webhook}/replay?state=falhou`, 10],
  ['Delivery', `${webhook}/deliveries/evt_${String(10_001).padStart(27, '0')}`, 5],
])('the page %s is under 100 kB and takes few calls', async (_, path, most) => {
  const outputs = Object.fromEntries(tableNames().map(name => [`${name}Table`, name]));
  let calls = 0;
  const dynamo: Dynamo = (command, options) => {
    calls += 1;
    return database.dynamo(command, options);
  };
  const target = { ...localTarget({ ...outputs, Region: database.region }), dynamo };
  const context = aContext(makeOperatorSource(target), path, 'en', noon + deliveries * 100);
  const begun = performance.now();
  const answer = await answerPage(context, null);
  if ('location' in answer) throw new Error('A page answers.');
  expect(answer.status ?? 200).toBe(200);
  const bytes = Buffer.byteLength(documentOf(answer, context));
  expect(bytes).toBeLessThan(100_000);
  expect(calls).toBeGreaterThan(0);
  expect(calls).toBeLessThanOrEqual(most);
  console.log(`${path}: ${calls} calls, ${bytes} bytes, ${Math.round(performance.now() - begun)} ms`);
});

it('Start is under 100 kB, and takes 30 calls to AWS at most once it has read what it keeps', async () => {
  const queues = await startSqs();
  const names = ['EventsQueueUrl', 'RetryQueueUrl', 'SlowQueueUrl', 'DeadLetterQueueUrl'];
  for (const name of names) queues.ensureQueue({ name, attributes: {} });
  const calls: string[] = [];
  const counted = <Client extends object>(client: Client): Client => {
    const { send } = client as unknown as { send: (command: object, ...more: unknown[]) => unknown };
    const count = (command: object, ...more: unknown[]) => {
      calls.push(command.constructor.name);
      return send.call(client, command, ...more);
    };
    return Object.assign(client, { send: count });
  };
  const world: World = {
    ...thisWorld,
    time: { ...thisWorld.time, now: () => noon + deliveries * 100 },
    makeClient: (Service, settings) => counted(thisWorld.makeClient(Service, settings)),
    makeDocumentClient: settings => counted(thisWorld.makeDocumentClient(settings)),
  };
  const outputs = {
    ...Object.fromEntries(tableNames().map(name => [`${name}Table`, name])),
    ...Object.fromEntries(names.map(name => [name, queues.urlOf(name)])),
    ...{ Region: database.region, DynamoDbEndpoint: database.endpoint, SqsEndpoint: queues.endpoint },
    RotateKeysSettings: JSON.stringify(rotation),
  };
  const context = aContext(makeOperatorSource(localTarget(outputs, world)), '/', 'en', noon + deliveries * 100);
  await answerPage(context, null);
  const first = calls.splice(0).length;
  const answer = await answerPage(context, null);
  if ('location' in answer) throw new Error('A page answers.');
  const { text } = answer.content;
  expect(text).toContain('>50 of 200<');
  expect(text.match(/Could not be read:/g)).toHaveLength(1); // the log of a local run: none runs here
  expect(Buffer.byteLength(documentOf(answer, context))).toBeLessThan(100_000);
  expect(calls.length).toBeLessThanOrEqual(30);
  expect(calls.length).toBeLessThan(first);
  console.log(
    `Start: ${first} calls, then ${calls.length}: ${[...Map.groupBy(calls, name => name)].map(([name, made]) => `${made.length} ${name}`).join(', ')}`,
  );
  await queues.stop();
});

/** The settings of the function that rotates keys. */
const rotation = {
  ...{ KEYRING_TABLE: 'Keyring', KEY_ARN: 'arn:aws:kms:us-east-1:000000000000:key/1', SIGNING_ALGORITHM: 'ES256' },
};
