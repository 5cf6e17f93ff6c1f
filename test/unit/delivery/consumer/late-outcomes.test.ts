import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { scheduled } from '../../../../lambdas/delivery/transitions.ts';
import { webhookKey } from '../../../../lambdas/webhooks/webhook.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { answer } from '../builders.ts';

let stage: Stage;
let messageId = '';
const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'demand-7' };
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

/** Has an attempt end so after a second, and something happen meanwhile. */
const attempt = async (end: ReturnType<typeof answer>, meanwhile: () => Promise<unknown>) => {
  stage.answers.push({ ...end, takesMs: 1_000 });
  messageId = stage.publish(event);
  await stage.pass(500);
  await meanwhile();
  await stage.pass(500);
};

describe('an outcome that comes late', () => {
  it('410 of a webhook that an operator suspended meanwhile: held, and not announced', async () => {
    await attempt(answer(410), () => stage.register({ status: 'suspended', suspensionReason: 'operator' }));
    expect(stage.only()).toMatchObject({ state: 'held' });
    expect(await stage.webhook()).toMatchObject({ suspensionReason: 'operator', failingSince: expect.any(Number) });
    expect(stage.logged('webhook.suspended')).toBe(0);
  });
});

// It was told as one that nobody had registered for.
describe('an event that was POSTed and whose outcome could not be stored before its webhook was deleted', () => {
  const lineOf = (name: string) =>
    stage.lines.map(line => JSON.parse(line)).find(([logged]) => logged === name)?.[1] as object | undefined;
  const isOutcome = (command: object) => command instanceof PutCommand && command.input.TableName === 'Deliveries';

  it('is logged with its outcome', async () => {
    stage.failOnce(isOutcome, () =>
      stage.tables.execute(new DeleteCommand({ TableName: 'Webhooks', Key: webhookKey('conta-1', 'demanda.criada') })),
    );
    await attempt(answer(410), async () => undefined);
    expect(stage.deferrals()).toEqual(['Error']);
    expect(lineOf('delivery.outcome_not_stored')).toMatchObject({
      ...{ result: 'http', status: 410 },
      messageId,
      deliveryId: stage.posts[0]?.id,
      account: 'conta-1',
      event: 'demanda.criada',
      attempt: 1,
      errorName: 'Error',
    });
  });

  it('is not logged if no attempt was made', async () => {
    await stage.register({ status: 'suspended', suspensionReason: 'gone' });
    stage.failOnce(isOutcome);
    stage.publish(event);
    await stage.pass(0);
    expect(stage.deferrals()).toEqual(['Error']);
    expect(lineOf('delivery.outcome_not_stored')).toBeUndefined();
  });
});

describe('a message of the retry queue', () => {
  beforeEach(async () => {
    stage.answers.push(answer(500));
    stage.publish(event);
    await stage.pass(0);
  });

  it.each([
    [500, 1],
    [501, 0],
  ])('that comes %i ms early is attempted %i times, since clocks differ', async (early, times) => {
    const [message] = stage.lose('retries');
    await stage.run((stage.only().wait?.nextAttemptAt ?? 0) - early);
    stage.send('retries', message?.body ?? '');
    await stage.pass(0);
    expect(stage.posts).toHaveLength(1 + times);
  });

  it('that comes more than 5 s early has a successor, and is dropped', async () => {
    const [message] = stage.lose('retries');
    const delivery = stage.only();
    await stage.store.update(delivery, scheduled(delivery, stage.now(), 5_001));
    stage.send('retries', message?.body ?? '');
    await stage.pass(0);
    expect([stage.posts.length, stage.waiting('retries')]).toEqual([1, []]);
  });

  // Each of three was POSTed, in the same millisecond.
  it('is POSTed once, even if copies of it come at the same time', async () => {
    const [{ body } = { body: '' }] = stage.lose('retries');
    await stage.pass(10_000);
    for (let copy = 0; copy < 3; copy++) stage.send('retries', body);
    await stage.pass(0);
    expect(stage.posts).toHaveLength(2);
    expect(stage.waiting('retries')).toHaveLength(2); // no copy is acknowledged before there is an outcome
    await stage.settle();
    expect(stage.posts).toHaveLength(2);
  });
});
