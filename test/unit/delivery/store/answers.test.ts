import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttemptRecord, keptAttempts, settled } from '../../../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../../../lambdas/delivery/failure-causes.ts';
import { answerPart, partAnswers } from '../../../../lambdas/delivery/store/answer-item.ts';
import { packAttempt, unpackAttempt } from '../../../../lambdas/delivery/store/attempt-records.ts';
import type { FailureCause } from '../../../../lambdas/platform/egress/network-error.ts';
import { type DeliveryWorld, makeDeliveryWorld, schedule } from '../../../support/delivery-world/delivery-world.ts';
import { everyCrash } from '../../../support/delivery-world/every-crash.ts';
import { aDelivery, answer, aRecord, noon } from '../builders.ts';

const day = 24 * 60 * 60_000;
const path = '/v1/webhooks/demanda.criada/entregas';
let world: DeliveryWorld;
const begin = async () => {
  world = makeDeliveryWorld();
  await world.register();
  publish();
};
beforeEach(begin);

const publish = () => world.publishEvent({ id: 'same' });
const refuse = (...said: string[]) => world.answers.push(...said.map(text => answer(503, {}, text)));
const head = async () => world.items().filter(({ id }) => id.startsWith('evt_'))[0];
const shown = async (): Promise<(string | null)[]> => {
  const answered = await world.request('GET', `${path}/${(await head())?.id}`);
  return answered?.json.tentativas.map(({ resposta }: { resposta: string | null }) => resposta);
};
const stored = async () =>
  world
    .answerItems()
    .map(({ response }) => response)
    .toSorted();

describe('the answers of a receiver', () => {
  it('have items of their own where the delivery goes on, and stay in the head where it ends', async () => {
    refuse('first', 'second');
    world.answers.push(answer(200, {}, 'third'));
    await world.settle();
    expect(await stored()).toEqual(['first', 'second']);
    expect(await head()).toMatchObject({ state: 'delivered', response: 'third' });
    expect(await shown()).toEqual(['first', 'second', 'third']);
  });

  it('are read by the keys that the records name, however many are stored, and a list reads none', async () => {
    refuse('first', 'second');
    await world.settle();
    const { id } = (await head()) ?? {};
    for (let number = 100; number < 110; number++) {
      const Item = { id, part: answerPart({ number, answerId: 'no-record' }), response: 'x'.repeat(1_024) };
      await world.dynamo(new PutCommand({ TableName: 'Deliveries', Item }));
    }
    const { operations } = world;
    operations.length = 0;
    expect((await world.request('GET', `${path}/${id}`))?.status).toBe(200);
    expect(operations).toEqual(['BatchGetCommand', 'BatchGetCommand']); // head and webhook; the answers
    operations.length = 0;
    await world.request('GET', path);
    expect(operations.filter(name => name.startsWith('Query'))).toHaveLength(2); // the partitions of the list
  });

  it('take no item where they are empty or there were none', async () => {
    refuse('');
    world.answers.push({ outcome: 'connection', cause: null, errorCode: 'ECONNRESET', durationMs: 1 });
    await world.settle();
    expect(await stored()).toEqual([]);
    expect(await shown()).toEqual(['', null, '']);
  });

  it('are not kept in a head that outlives them', () => {
    const ended = settled(aDelivery({ attempts: [aRecord()] }), 'delivered', noon);
    expect(partAnswers(ended, noon / 1_000 + 30 * 86_400).answers).toEqual([]);
    expect(partAnswers(ended, noon / 1_000 + 90 * 86_400).answers).toMatchObject([
      { response: 'oops', ttl: noon / 1_000 + 60 * 86_400 },
    ]);
  });

  it('are written before the head: a process that dies at any step leaves an orphan at most, which is never shown', async () => {
    let orphans = 0;
    await everyCrash(async crash => {
      await begin();
      refuse('first try', 'second try', 'later');
      await world.step('first', crash);
      const isOrphan = (await stored()).length === 1 && (await head()) === undefined;
      if (isOrphan) orphans++;
      expect((await shownNow()).every(text => text !== null)).toBe(true);
      await world.pass(180_000);
      await world.settle();
      const texts = await shown();
      expect(texts.slice(0, -1).every(text => text !== null)).toBe(true);
      if (!isOrphan) return;
      expect(texts).toEqual(['second try', 'later', '']);
      expect(await stored()).toEqual(['first try', 'later', 'second try']);
    }, 1);
    expect(orphans).toBeGreaterThan(0);
  });

  it('are those of the copy that was stored first, where two make one attempt', async () => {
    publish();
    world.during.push(() => world.step('first'));
    refuse('of the copy that answered first', 'of the other');
    await world.step('first');
    expect(world.posts).toHaveLength(2);
    expect(await stored()).toHaveLength(2);
    expect(world.waiting('retries')).toHaveLength(1);
    expect(world.logged('delivery.stale')).toBe(1);
    const texts = await shown();
    expect(texts).toHaveLength(1);
    await world.settle();
    expect((await shown())[0]).toBe(texts[0]);
    expect(world.deliveries()[0]?.attempts).toHaveLength(2);
  });

  it('move out of the head when it is sent again on day 29, and are gone 60 days after their attempts', async () => {
    const attempts = schedule.length + 1;
    const texts = Array.from({ length: 2 * attempts }, (_, at) => `answer ${at + 1}`);
    refuse(...texts);
    await world.settle();
    expect(await head()).toMatchObject({ state: 'failed', response: `answer ${attempts}` });
    await world.run(noon + 29 * day);
    const { id } = (await head()) ?? {};
    expect((await world.request('POST', `${path}/${id}/reenvio`))?.status).toBe(202);
    expect(await head()).not.toHaveProperty('response');
    expect(await shown()).toEqual(texts.slice(0, attempts));
    await world.settle();
    expect(await shown()).toEqual(texts);

    await world.run(noon + 59 * day - 1_000);
    expect(await shown()).toEqual(texts);
    const first = world.answerItems().find(({ response }) => response === 'answer 1');
    expect(first?.ttl).toBe((noon + 60 * day) / 1_000);
  });

  it('are not shown any more when they are over, though they and the head are still there', async () => {
    refuse(...Array.from({ length: schedule.length + 1 }, (_, at) => `answer ${at + 1}`));
    await world.settle();
    for (const again of [29, 58]) {
      await world.run(noon + again * day);
      await world.resend(world.deliveries()[0] ?? aDelivery());
      await world.settle();
    }
    await world.run(noon + 61 * day);
    expect(await stored()).toHaveLength(4);
    expect((await shown()).slice(0, 4)).toEqual([null, null, null, null]);
  });

  const shownNow = async () => ((await head()) === undefined ? [] : shown());
});

describe('the record of an attempt', () => {
  it('is given back as it was', () => {
    const record = fc.record({
      number: fc.integer({ min: 1, max: 10_000 }),
      startedAt: fc.integer({ min: -60_000, max: 400 * day }).map(after => new Date(noon + after).toISOString()),
      durationMs: fc.integer({ min: 0, max: 60_000 }),
      result: fc.constantFrom<AttemptRecord['result'][]>(
        ...(['delivered', 'http', 'timeout', 'connection', 'tls', 'dns', 'blocked', 'slow', 'internal'] as const),
      ),
      cause: fc.constant(null),
      status: fc.option(fc.integer({ min: 200, max: 999 })),
    });
    const kept = fc.constantFrom<Pick<AttemptRecord, 'response' | 'answerId'>>(
      ...[{ response: null }, { response: '' }, { response: 'in the head' }, { response: null, answerId: 'Ab3_-E9' }],
    );
    fc.assert(
      fc.property(record, kept, (fields, where) => {
        const one = { ...fields, ...where };
        expect(unpackAttempt(packAttempt(one, noon), noon, 'in the head')).toEqual(one);
      }),
    );
  });

  it.each(Object.keys(failureCauses) as FailureCause[])('keeps the cause %s', cause => {
    const one = aRecord({ result: failureCauses[cause].results[0], cause, status: null, response: null });
    expect(unpackAttempt(packAttempt(one, noon), noon, '')).toEqual(one);
  });

  it('is one of the latest thirty', async () => {
    const records = Array.from({ length: keptAttempts }, (_, at) => aRecord({ number: at + 1, response: `${at}` }));
    const delivery = aDelivery({
      attempt: 31,
      attempts: records,
      wait: { nextAttemptAt: 1, sweepAt: 1, overdueCount: 0 },
    });
    await world.store.create(delivery);
    const answered = await world.request('GET', `${path}/${delivery.id}`);
    expect(answered?.json.tentativas).toHaveLength(30);
    expect(answered?.json.tentativas.at(0)).toMatchObject({ numero: 1, resposta: '0' });
  });
});
