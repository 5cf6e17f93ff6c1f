import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type AttemptRecord, keptAttempts, settled } from '../../../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../../../lambdas/delivery/failure-causes.ts';
import { answerPart, partAnswers } from '../../../../lambdas/delivery/store/answer-item.ts';
import { packAttempt, unpackAttempt } from '../../../../lambdas/delivery/store/attempt-records.ts';
import type { FailureCause } from '../../../../lambdas/platform/egress/network-error.ts';
import { makeStage, type Stage, schedule } from '../../../support/stage.ts';
import { aDelivery, answer, aRecord, noon } from '../builders.ts';

const day = 24 * 60 * 60_000;
const path = '/v1/webhooks/demanda.criada/entregas';
let stage: Stage;
const begin = async () => {
  stage = makeStage();
  await stage.register();
  publish();
};
beforeEach(begin);

const publish = () => stage.publishEvent({ id: 'same' });
const refuse = (...said: string[]) => stage.answers.push(...said.map(text => answer(503, {}, text)));
const head = async () => stage.items().filter(({ id }) => id.startsWith('evt_'))[0];
const shown = async (): Promise<(string | null)[]> => {
  const answered = await stage.request('GET', `${path}/${(await head())?.id}`);
  return answered?.json.tentativas.map(({ resposta }: { resposta: string | null }) => resposta);
};
const stored = async () =>
  stage
    .answerItems()
    .map(({ response }) => response)
    .toSorted();

describe('the answers of a receiver', () => {
  it('have items of their own where the delivery goes on, and stay in the head where it ends', async () => {
    refuse('first', 'second');
    stage.answers.push(answer(200, {}, 'third'));
    await stage.settle();
    expect(await stored()).toEqual(['first', 'second']);
    expect(await head()).toMatchObject({ state: 'delivered', response: 'third' });
    expect(await shown()).toEqual(['first', 'second', 'third']);
  });

  it('are read by the keys that the records name, however many are stored, and a list reads none', async () => {
    refuse('first', 'second');
    await stage.settle();
    const { id } = (await head()) ?? {};
    for (let number = 100; number < 110; number++) {
      const Item = { id, part: answerPart({ number, answerId: 'no-record' }), response: 'x'.repeat(1_024) };
      await stage.dynamo(new PutCommand({ TableName: 'Deliveries', Item }));
    }
    const execute = vi.spyOn(stage.tables, 'execute');
    const operations = () =>
      execute.mock.calls
        .filter(([{ input }]) => JSON.stringify(input).includes('Deliveries'))
        .map(([command]) => command.constructor.name);
    expect((await stage.request('GET', `${path}/${id}`))?.status).toBe(200);
    expect(operations()).toEqual(['BatchGetCommand', 'BatchGetCommand']); // head and webhook; the answers
    execute.mockClear();
    await stage.request('GET', path);
    expect(operations().filter(name => name.startsWith('Query'))).toHaveLength(2); // the partitions of the list
  });

  it('take no item where they are empty or there were none', async () => {
    refuse('');
    stage.answers.push({ outcome: 'connection', cause: null, errorCode: 'ECONNRESET', durationMs: 1 });
    await stage.settle();
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

  it('are those of the copy that was stored first, where two make one attempt', async () => {
    publish();
    stage.answers.push({ ...answer(503, {}, 'of the other'), takesMs: 1_000 });
    refuse('of the copy that answered first');
    await stage.pass(1_000);
    expect(stage.posts).toHaveLength(2);
    expect(await stored()).toHaveLength(2);
    expect(stage.waiting('retries')).toHaveLength(1);
    expect(stage.logged('delivery.stale')).toBe(1);
    const texts = await shown();
    expect(texts).toHaveLength(1);
    await stage.settle();
    expect((await shown())[0]).toBe(texts[0]);
    expect(stage.deliveries()[0]?.attempts).toHaveLength(2);
  });

  it('move out of the head when it is sent again on day 29, and are gone 60 days after their attempts', async () => {
    const attempts = schedule.length + 1;
    const texts = Array.from({ length: 2 * attempts }, (_, at) => `answer ${at + 1}`);
    refuse(...texts);
    await stage.settle();
    expect(await head()).toMatchObject({ state: 'failed', response: `answer ${attempts}` });
    await stage.skip(noon + 29 * day - stage.now());
    const { id } = (await head()) ?? {};
    expect((await stage.request('POST', `${path}/${id}/reenvio`))?.status).toBe(202);
    expect(await head()).not.toHaveProperty('response');
    expect(await shown()).toEqual(texts.slice(0, attempts));
    await stage.settle();
    expect(await shown()).toEqual(texts);

    await stage.skip(noon + 59 * day - 1_000 - stage.now());
    expect(await shown()).toEqual(texts);
    const first = stage.answerItems().find(({ response }) => response === 'answer 1');
    expect(first?.ttl).toBe((noon + 60 * day) / 1_000);
  });

  it('are not shown any more when they are over, though they and the head are still there', async () => {
    refuse(...Array.from({ length: schedule.length + 1 }, (_, at) => `answer ${at + 1}`));
    await stage.settle();
    for (const again of [29, 58]) {
      await stage.skip(noon + again * day - stage.now());
      await stage.request('POST', `${path}/${(await head())?.id}/reenvio`);
      await stage.settle();
    }
    await stage.skip(noon + 61 * day - stage.now());
    expect(await stored()).toHaveLength(4);
    expect((await shown()).slice(0, 4)).toEqual([null, null, null, null]);
  });
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
    await stage.store.create(delivery);
    const answered = await stage.request('GET', `${path}/${delivery.id}`);
    expect(answered?.json.tentativas).toHaveLength(30);
    expect(answered?.json.tentativas.at(0)).toMatchObject({ numero: 1, resposta: '0' });
  });
});
