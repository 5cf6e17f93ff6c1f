import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../../../../lambdas/delivery/delivery.ts';
import { eventBody, exampleValues } from '../../../../lambdas/delivery/intake/event-catalogue.ts';
import { partAnswers } from '../../../../lambdas/delivery/store/answer-item.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import { itemBytes, type Meter, makeMeter, writeUnits } from '../../../../tools/support/write-units.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { tableDefinition } from '../../../support/tables.ts';
import { aDelivery, answer, aRecord, noon } from '../builders.ts';
import { simulate } from '../simulation.ts';

const keys = tableDefinition('Deliveries');
let database: Database;
let meter: Meter;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
  meter = makeMeter(database.dynamo, 'Deliveries', keys);
});
afterAll(() => database.stop());

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** The waits of a stage: `lib/config.ts`. */
const waits = [
  ...[5 * second, 5 * minute, 30 * minute],
  ...[2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
];

/** Delivers an event to its end, to a receiver that always answers so, and returns what was written of it. */
const writesOf = async (status: number, response: string) => {
  const world = await simulate({ ...database, dynamo: meter.dynamo }, undefined, waits);
  await world.register({ webhookId: 'V1StGXR8Z5jdHi6BmyT3Qa' });
  world.answers.push(...Array.from({ length: waits.length + 1 }, () => answer(status, {}, response)));
  meter.take();
  world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
  await world.settle();
  const [delivery] = await world.all();
  return { delivery, writes: meter.take() };
};
const unitsOf = (writes: readonly { units: number }[]) => writes.reduce((sum, { units }) => sum + units, 0);

describe('the write units of a delivery', () => {
  it('are two of one write where its first attempt is answered with 2xx', async () => {
    for (const response of ['', 'x'.repeat(200)]) {
      const { delivery, writes } = await writesOf(200, response);
      expect(delivery).toMatchObject({ state: 'delivered', attempt: 2 });
      expect(writes.map(({ units }) => units)).toEqual([2]);
    }
  });

  it('are 58 where it fails for good with answers of 1 KiB: 60 at most', async () => {
    const { delivery, writes } = await writesOf(503, 'x'.repeat(1_024));
    expect(delivery).toMatchObject({ state: 'failed', attempt: 11 });
    expect(unitsOf(writes)).toBe(58);
  });

  it('are 39 where it fails for good with empty answers: 45 at most', async () => {
    const { delivery, writes } = await writesOf(503, '');
    expect(delivery).toMatchObject({ state: 'failed', attempt: 11 });
    expect(unitsOf(writes)).toBe(39);
  });

  it('are one for an answer of up to 900 bytes', async () => {
    const { writes } = await writesOf(503, 'x'.repeat(900));
    const answers = writes.filter(({ item }) => String(item?.part).startsWith('answer#'));
    expect(answers.map(({ units }) => units)).toEqual(Array.from({ length: 9 }, () => 1));
  });

  it('are one for the sweeper’s first claim of a long wait, which moves nothing in the index', async () => {
    const { writes } = await writesOf(503, '');
    const claims = writes.filter(({ item }) => item?.claimedUntil !== undefined);
    expect(claims.map(({ units }) => units)).toEqual(Array.from({ length: 7 }, () => 1));
  });
});

describe('the head of a delivery', () => {
  it.each(EVENT_NAMES)('is under 1 kB with ten records, of every event: %s', eventName => {
    const record = (number: number): AttemptRecord =>
      aRecord({
        number,
        startedAt: new Date(noon + 259_200_000 + number).toISOString(),
        durationMs: 15_000,
        response: 'x'.repeat(1_024),
      });
    const delivery = aDelivery({
      id: `evt_${'x'.repeat(27)}`,
      accountId: 'integrator-of-24-letters',
      eventName,
      webhookId: 'V1StGXR8Z5jdHi6BmyT3Qa',
      messageId: crypto.randomUUID(),
      body: eventBody(eventName, exampleValues, 'https://demandas.example.com'),
      attempt: 11,
      charged: 10,
      attempts: Array.from({ length: 10 }, (_, at) => record(at + 1)),
      wait: { nextAttemptAt: noon, sweepAt: noon, overdueCount: 0, claimedUntil: noon },
    });
    const item = itemFromDelivery(partAnswers(delivery, undefined).head, 30);
    expect(itemBytes(item)).toBeLessThan(1_000);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
describe('the units that are counted', () => {
  const item = { id: 'a', part: 'head', listShard: 'l', listKey: 'k' };

  it('are those of the larger item, for each KiB that is begun', () => {
    const large = { id: 'a', part: 'head', text: 'x'.repeat(1_024) };
    expect(itemBytes({ ...large, text: '' })).toBe(15);
    expect(writeUnits(keys, undefined, { ...large, text: 'x'.repeat(1_024 - 15) })).toBe(1);
    expect(writeUnits(keys, undefined, large)).toBe(2);
    expect(writeUnits(keys, large, { id: 'a', part: 'head' })).toBe(2);
  });

  it('are one more for an index entry that is made or taken away, and two for one that moves', () => {
    expect(writeUnits(keys, undefined, item)).toBe(2);
    expect(writeUnits(keys, item, undefined)).toBe(2);
    expect(writeUnits(keys, item, { ...item, listShard: 'other' })).toBe(3);
    expect(writeUnits(keys, item, { ...item, state: 'failed' })).toBe(1);
  });

  it('come of the sizes that DynamoDB names', () => {
    expect(itemBytes({ n: 1_234 })).toBe(1 + 3);
    expect(itemBytes({ n: -1_234 })).toBe(1 + 4);
    expect(itemBytes({ b: true, n: null })).toBe(4);
    expect(itemBytes({ t: 'é' })).toBe(3);
    expect(itemBytes({ l: ['ab', 'c'] })).toBe(1 + 3 + 2 + 1 + 1 + 1);
    expect(itemBytes({ m: { a: 'b' } })).toBe(1 + 3 + 1 + 2);
  });
});
