import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { settled, type WaitingDelivery } from '../../../lambdas/delivery/delivery.ts';
import { makeReplayStore } from '../../../lambdas/delivery/replay/replay-store.ts';
import { expedited, scheduled } from '../../../lambdas/delivery/transitions.ts';
import { webhookKey } from '../../../lambdas/webhooks/webhook.ts';
import { makeStage, type Stage } from '../../support/stage.ts';
import { aDelivery, aResponse, noon } from './builders.ts';

/* Simulated worlds found each of these faults only after 17 to 527 seeds (`docs/delivery.md`, "What happens if …"). */

const day = 24 * 60 * 60_000;
const minute = 60_000;
let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

const waiting = () => stage.only() as WaitingDelivery;
const resend = () => stage.request('POST', `/v1/webhooks/demanda.criada/entregas/${waiting().id}/reenvio`);
/** Publishes an event, and makes its first attempt fail. */
const fail = async () => {
  stage.answers.push(aResponse(500));
  stage.publishEvent();
  await stage.pass(0);
};
/** Publishes an event with an attempt that ends with this response after 1 s. Calls `during` after 500 ms. */
const attempt = async (end: ReturnType<typeof aResponse>, during: () => Promise<unknown>) => {
  stage.answers.push({ ...end, takesMs: 1_000 });
  stage.publishEvent();
  await stage.pass(500);
  await during();
  await stage.pass(500);
};
/** Calls `act` just before the next call of an operation (such as `Put`) takes effect. `act` must not take time. */
const justBefore = (operationToChange: string, act: () => Promise<unknown>) => {
  stage.faults.outcomeOf = ({ operation }) => {
    if (operation !== operationToChange) return 'fine';
    stage.faults.outcomeOf = undefined;
    void act();
    return 'fine';
  };
};
/** Loses the response to the next call of an operation. The call takes effect, but the SDK repeats it. */
const loseResponse = (operationToChange: string) => {
  stage.faults.outcomeOf = ({ operation }) => {
    if (operation !== operationToChange) return 'fine';
    stage.faults.outcomeOf = undefined;
    return 'response_lost';
  };
};
/** Calls `act` before the next command that matches, and makes the command fail. */
const failOnce = (matches: (command: object) => boolean, act: () => unknown = () => undefined) => {
  const { tables } = stage;
  const { execute } = tables;
  tables.execute = command => {
    if (!matches(command)) return execute(command);
    tables.execute = execute;
    act();
    throw new Error('the store is down');
  };
};
const isOutcome = (command: object) => command instanceof PutCommand && command.input.TableName === 'Deliveries';

describe('a delivery that has changed since it was read', () => {
  beforeEach(async () => {
    await fail();
    await stage.pass(1_000);
  });

  const mark = async () => {
    const read = waiting();
    await stage.store.update(read, { ...read, wait: { ...read.wait, sweepAt: read.wait.sweepAt + 1 } });
  };

  it('remains pending after a resend if an outdated state of its webhook would hold it', async () => {
    await stage.register({ status: 'suspended', suspensionReason: 'gone' });
    justBefore('Put', async () => {
      await stage.register();
      const read = waiting();
      await stage.store.update(read, expedited(read, stage.now() - 2_000) ?? read);
    });
    await stage.pass(4_000); // the attempt is due
    expect(stage.only()).toMatchObject({ state: 'pending', expedited: { originalDueAt: noon + 4_500 } });
  });

  it('can be resent if only its sweep time has changed', async () => {
    justBefore('Put', mark);
    await resend();
    await stage.pass(0);
    expect(stage.posts).toHaveLength(2);
  });

  it('retains an outcome that was stored before a resend', async () => {
    justBefore('Put', async () => {
      const read = waiting();
      await stage.store.update(read, settled({ ...read, attempt: read.attempt + 1 }, 'delivered', stage.now()));
    });
    await resend();
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'delivered' });
    expect(stage.posts).toHaveLength(1);
  });

  it('leaves its message in the queue if it changes on each try', async () => {
    await stage.remove();
    stage.faults.outcomeOf = ({ operation }) => {
      if (operation === 'Put') void mark();
      return 'fine';
    };
    await stage.pass(4_000);
    expect(stage.deferrals()).toEqual(['DeliveryChangedError']);
    expect(stage.waiting('retries')).toHaveLength(1);
  });

  it('records the outcome of a completed attempt', async () => {
    justBefore('Put', mark);
    await stage.pass(4_000);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
  });
});

describe('an attempt that is in flight', () => {
  it('does not announce its 410 if an operator suspends the webhook during the attempt', async () => {
    await attempt(aResponse(410), () => stage.register({ status: 'suspended', suspensionReason: 'operator' }));
    expect(stage.only()).toMatchObject({ state: 'held' });
    expect(await stage.webhook()).toMatchObject({ suspensionReason: 'operator', failingSince: expect.any(Number) });
    expect(stage.logged('webhook.suspended')).toBe(0);
  });

  it.each([
    ['its URL is replaced', () => stage.register({ url: 'https://new.example.com/', resetAt: stage.now() })],
    [
      'its webhook is reactivated',
      async () => {
        await stage.register({ status: 'suspended', suspensionReason: 'gone' });
        await stage.webhooks.reactivate('conta-1', 'demanda.criada', stage.now());
      },
    ],
  ])('fails without a suspension after a 410 if %s during the attempt', async (_, during) => {
    await attempt(aResponse(410), during);
    expect(stage.only()).toMatchObject({ state: 'pending', charged: 1 });
    expect(await stage.webhook()).toMatchObject({ status: 'active' });
  });

  it('logs an outcome that cannot be stored before the webhook is deleted', async () => {
    failOnce(isOutcome, () =>
      stage.tables.execute(new DeleteCommand({ TableName: 'Webhooks', Key: webhookKey('conta-1', 'demanda.criada') })),
    );
    await attempt(aResponse(410), async () => undefined);
    const lines = stage.lines.map(line => JSON.parse(line));
    expect(lines.find(([name]) => name === 'delivery.outcome_not_stored')).toMatchObject([
      'delivery.outcome_not_stored',
      { deliveryId: stage.posts[0]?.id, account: 'conta-1', attempt: 1, result: 'http', status: 410 },
    ]);
  });
});

it('a hold that cannot be stored is not logged as the outcome of an attempt', async () => {
  await stage.register({ status: 'suspended', suspensionReason: 'gone' });
  failOnce(isOutcome);
  stage.publishEvent();
  await stage.pass(0);
  expect([stage.deferrals(), stage.logged('delivery.outcome_not_stored')]).toEqual([['Error'], 0]);
});

describe('a suspension after five days of failures', () => {
  /** Publishes an event to a webhook that has failed for five days. The only attempt fails. */
  const failLastAttempt = async () => {
    stage = makeStage([]);
    await stage.register({ failingSince: noon - 5 * day, failingMark: 4 * day });
    stage.answers.push(aResponse(500), aResponse(500));
    stage.publishEvent();
  };

  it('is stored before the outcome that requires it', async () => {
    await failLastAttempt();
    let wasSuspended = false;
    failOnce(
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

  it('is repeated with the attempt if it cannot be stored', async () => {
    await failLastAttempt();
    failOnce(command => command instanceof UpdateCommand && command.input.TableName === 'Webhooks');
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'failed' });
    expect(await stage.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'no_success' });
    expect(stage.logged('webhook.suspended')).toBe(1);
    expect(stage.posts).toHaveLength(2);
  });

  it('is not caused by a test', async () => {
    await failLastAttempt();
    stage.lose('events');
    await stage.request('POST', '/v1/webhooks/demanda.criada/teste');
    await stage.pass(0);
    expect(stage.only()).toMatchObject({ state: 'failed' });
    expect(await stage.webhook()).toMatchObject({ status: 'active' });
  });
});

describe('a message in the retry queue', () => {
  beforeEach(fail);

  it.each([
    [500, 1],
    [501, 0],
    [5_000, 0],
  ])('that arrives %i ms early is attempted %i times at once, and otherwise when it is due', async (early, times) => {
    const [message] = stage.lose('retries');
    await stage.run((stage.only().wait?.nextAttemptAt ?? 0) - early);
    stage.send('retries', message?.body ?? '');
    await stage.pass(0);
    expect(stage.posts).toHaveLength(1 + times);
    await stage.pass(5_000);
    expect(stage.posts).toHaveLength(2);
  });

  it('that arrives more than 5 s early is dropped, because its delivery has another message', async () => {
    const [message] = stage.lose('retries');
    const delivery = stage.only();
    await stage.store.update(delivery, scheduled(delivery, stage.now(), 5_001));
    stage.send('retries', message?.body ?? '');
    await stage.pass(0);
    expect([stage.posts.length, stage.waiting('retries')]).toEqual([1, []]);
  });

  it('causes one POST if copies arrive together, and no copy is acknowledged before the outcome is stored', async () => {
    const [{ body } = { body: '' }] = stage.lose('retries');
    await stage.pass(10_000);
    for (let copy = 0; copy < 3; copy++) stage.send('retries', body);
    await stage.pass(0);
    expect(stage.waiting('retries')).toHaveLength(2);
    await stage.settle();
    expect(stage.posts).toHaveLength(2);
  });

  it('repeats the write of its outcome for 2 s with doubling pauses while the store throttles', async () => {
    const { execute } = stage.tables;
    const tries: number[] = [];
    stage.tables.execute = command => {
      if (!isOutcome(command)) return execute(command);
      tries.push(stage.now());
      throw Object.assign(new Error('slow down'), { name: 'ThrottlingError' }); // the SDK does not repeat such a call
    };
    await stage.pass(6_500);
    expect(tries.map(at => at - (tries[0] ?? 0))).toEqual([0, 100, 300, 700, 1_500]);
  });
});

describe('a conditional write that the SDK repeats after a lost response', () => {
  it('claims a due delivery for the sweeper, which sends its message', async () => {
    stage.answers.push(aResponse(503, { 'retry-after': '3600' }));
    stage.publishEvent();
    await stage.run(noon + 58 * minute);
    loseResponse('Update');
    await stage.settle();
    expect(stage.posts[1]?.at).toBeLessThan(noon + 3_601_000);
  });

  it('suspends a webhook after a 410 and announces the suspension', async () => {
    stage.answers.push(aResponse(410));
    loseResponse('Update');
    stage.publishEvent();
    await stage.pass(2_000);
    expect(await stage.webhook()).toMatchObject({ status: 'suspended', pendingAnnouncement: { reason: 'gone' } });
    expect(stage.logged('webhook.suspended')).toBe(1);
  });
});

it('a sweep sends the messages of all other claims if one claim fails, and then fails', async () => {
  for (let at = 0; at < 30; at++) {
    const delivery = aDelivery({ id: `evt_${at}`, attempt: 2 });
    await stage.store.create(scheduled(delivery, noon, 30.5 * minute));
  }
  await stage.run(noon + 29.5 * minute);
  failOnce(command => command instanceof UpdateCommand && command.input.Key?.id === 'evt_0');
  await expect(stage.sweep()).rejects.toThrow('The sweep failed: Error');
  expect(stage.waiting('retries')).toHaveLength(29);
});

// The alarm for overdue retries needs a sample every minute.
it('each sweep measures by how much a delivery is overdue while its outcomes are not stored', async () => {
  await fail();
  stage.faults.outcomeOf = ({ operation }) => (operation === 'Put' ? 'dies_before' : 'fine');
  await stage.pass(8 * minute);
  expect(stage.spans.OldestDue?.map(overdue => Math.round(overdue / minute))).toEqual([0, 0, 3, 4, 5, 6, 7, 8]);
});

describe('a replay', () => {
  const path = '/v1/webhooks/demanda.criada/reenvios';
  const body = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T00:00:00Z', estado: 'falhou' };
  const start = () => stage.request('POST', path, { body });
  const fill = async (failed: number) => {
    for (let number = 1; number < failed; number++) {
      await stage.store.create(settled(aDelivery({ id: `evt_${number}` }), 'failed', noon));
    }
  };
  beforeEach(async () => {
    await stage.store.create(settled(aDelivery(), 'failed', noon));
    await stage.pass(1);
  });

  it('is cancelled and not deleted by a DELETE that the SDK repeats', async () => {
    const { json } = await start();
    loseResponse('Update');
    expect(await stage.request('DELETE', `${path}/${json.id}`)).toMatchObject({ status: 204 });
    expect(await stage.request('GET', `${path}/${json.id}`)).toMatchObject({ json: { estado: 'cancelado' } });
  });

  it('sends each delivery once if two sweeps run it at the same time', async () => {
    await fill(100);
    await start();
    await Promise.all([stage.sweep(), stage.sweep()]);
    await stage.settle();
    expect(stage.posts).toHaveLength(100);
  });

  it.each([
    ['its last page', 1, 1],
    ['a page of 100 after the first 50 deliveries', 160, 150],
  ])('remains cancelled if %s ends at the same time', async (_, failed, sent) => {
    await fill(failed);
    const { json } = await start();
    const replays = makeReplayStore({ dynamo: stage.dynamo, table: 'Deliveries', now: stage.now });
    const replay = await replays.findLatest('conta-1', 'demanda.criada');
    justBefore('Update', async () => replay && replays.end(replay, 'cancelled'));
    await stage.pass(2 * minute);
    const shown = await stage.request('GET', `${path}/${json.id}`);
    expect(shown).toMatchObject({ json: { estado: 'cancelado', enviadas: sent } });
  });
});
