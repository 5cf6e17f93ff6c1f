import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { itemSize } from '@emissor/cloud/dynamodb/attribute-values';
import { afterAll, expect, it } from 'vitest';
import { businessEvents } from '../../../../lambdas/delivery/intake/event-catalogue.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { splitResponses } from '../../../../lambdas/delivery/store/response-item.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { aDelivery, aRecord, noon } from '../builders.ts';

const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

it.each(EVENT_NAMES)('the head of a delivery is under 1 kB with ten records: %s', async eventName => {
  const startedAt = new Date(noon + 259_200_000).toISOString();
  const record = aRecord({ startedAt, durationMs: 15_000, response: 'x'.repeat(1_024) });
  const delivery = aDelivery({
    id: `evt_${'x'.repeat(27)}`,
    accountId: 'integrator-of-24-letters',
    eventName,
    webhookId: 'V1StGXR8Z5jdHi6BmyT3Qa',
    messageId: crypto.randomUUID(),
    body: businessEvents.body(eventName, businessEvents.exampleValues, 'https://demandas.example.com'),
    attempt: 11,
    charged: 10,
    attempts: Array.from({ length: 10 }, (_, at) => ({ ...record, number: at + 1 })),
    wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0, claimedUntil: noon },
  });
  const item = itemFromDelivery(splitResponses(delivery, undefined).head);
  expect(itemSize(await storedItem(item))).toBeLessThan(1_000);
});

async function storedItem(Item: object) {
  const table = { TableName: 'Deliveries' };
  const { id, part } = Item as { id: string; part: string };
  await database.dynamo(new PutCommand({ ...table, Item }));
  const get = new GetItemCommand({ ...table, Key: { id: { S: id }, part: { S: part } } });
  return (await database.client.send(get)).Item ?? {};
}
