import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { answer, noon } from '../builders.ts';

/** A suspension is stored before the outcome that requires it (`docs/delivery.md`, step 5). */

const day = 24 * 60 * 60_000;
let stage: Stage;

/** The health of a webhook that the next final failure suspends. */
const health = { failingSince: noon - 5 * day, failingMark: 4 * day };
/** Publishes an event to such a webhook. Its only attempt fails. */
const begin = async () => {
  stage = makeStage([]);
  await stage.register(health);
  stage.answers.push(answer(500), answer(500));
  stage.publishEvent();
};
const isOutcome = (command: object) => command instanceof PutCommand && command.input.TableName === 'Deliveries';
const announced = async () => {
  await stage.sweep();
  return stage
    .announced()
    .map(({ type, reason, lastResult, deliveryId }) => ({ type, reason, lastResult, deliveryId }));
};

describe('a final failure after five days', () => {
  const suspended = { status: 'suspended', suspensionReason: 'no_success' };

  it('suspends before its outcome is stored, and leaves the delivery held if that fails', async () => {
    await begin();
    let wasSuspended = false;
    stage.failOnce(
      command => isOutcome(command) && stage.posts.length === 1,
      () => {
        wasSuspended = stage.tables.items('Webhooks')[0]?.status === 'suspended';
      },
    );
    await stage.pass(0);
    expect([wasSuspended, stage.deferrals()]).toEqual([true, ['Error']]);
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'held' });
    expect(stage.posts).toHaveLength(1);
  });

  it('is repeated if the suspension cannot be stored', async () => {
    await begin();
    stage.failOnce(command => command instanceof UpdateCommand && command.input.TableName === 'Webhooks');
    await stage.pass(0);
    expect(stage.deferrals()).toEqual(['Error']);
    expect(await stage.webhook()).toMatchObject({ status: 'active' });
    await stage.settle();
    const { id: deliveryId } = stage.only();
    expect(stage.only()).toMatchObject({ state: 'failed' });
    expect(await stage.webhook()).toMatchObject(suspended);
    expect(await announced()).toEqual([
      { type: 'webhook.suspended', reason: 'sem_sucesso', lastResult: 'http', deliveryId },
    ]);
    expect(stage.logged('webhook.suspended')).toBe(1);
    expect(stage.posts).toHaveLength(2);
  });
});

describe('a 410', () => {
  beforeEach(async () => {
    stage = makeStage();
    await stage.register();
    stage.answers.push({ ...answer(410), takesMs: 1_000 });
  });
  const replaceUrl = () => stage.register({ url: 'https://elsewhere.example.com/', resetAt: stage.now() });

  // It was held for ever: its webhook was active, at the new URL, and nobody had a reason to reactivate it.
  it('of a URL that was replaced meanwhile is an ordinary failure', async () => {
    stage.publishEvent();
    await stage.pass(500);
    await replaceUrl();
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'delivered', attempts: [{ status: 410 }, { status: 200 }] });
    expect(await stage.webhook()).toMatchObject({ status: 'active', url: 'https://elsewhere.example.com/' });
    expect(await announced()).toEqual([]);
  });

  it('does not suspend a webhook that was reactivated meanwhile, and is an ordinary failure', async () => {
    stage.publishEvent();
    await stage.pass(500);
    await stage.register({ status: 'suspended', suspensionReason: 'gone' });
    await stage.webhooks.reactivate('conta-1', 'demanda.criada', stage.now());
    await stage.pass(1_000);
    expect(await stage.webhook()).toMatchObject({ status: 'active' });
    expect(stage.only()).toMatchObject({ state: 'pending', charged: 1 });
  });
});

it('a test that fails after five days of failures suspends nothing', async () => {
  stage = makeStage();
  await stage.register(health);
  stage.answers.push(answer(500));
  await stage.request('POST', '/v1/webhooks/demanda.criada/teste');
  await stage.pass(0);
  expect(stage.only()).toMatchObject({ state: 'failed' });
  expect(await stage.webhook()).toMatchObject({ status: 'active' });
});
