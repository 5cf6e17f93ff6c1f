import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { replayIdOf } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { waitAfterSweep } from '../../../../lambdas/delivery/transitions.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { answer } from '../builders.ts';

const minute = 60_000;
const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;

useDeliveryWorld();

const waiting = () => world.only() as WaitingDelivery;
/** Sends the next update twice, and tells of two attempts, as the SDK does when the first answer gets lost. */
const repeatUpdate = () => {
  isRepeated = true;
};
let isRepeated = false;
const dynamo: Dynamo = (command, options) => {
  const isTwice = isRepeated && isUpdate(command);
  if (!isTwice) return world.dynamo(command, options);
  isRepeated = false;
  const first = world.dynamo(command, options);
  const again = first.catch(() => undefined).then(() => world.dynamo(command, options));
  return tellOfTwo(again);
};
const isUpdate = (command: object): boolean => command instanceof UpdateCommand;
const tellOfTwo = <Output extends object>(called: Promise<Output>): Promise<Output> =>
  called.then(
    answer => Object.assign(answer, { $metadata: { attempts: 2 } }),
    error => Promise.reject(Object.assign(error, { $metadata: { attempts: 2 } })),
  );
const store = () => makeDeliveryStore({ ...systemTime, now: world.now, dynamo, table: 'Deliveries' });

/** What the SDK repeats after a lost answer meets its own first try, and is refused. */
describe('a conditional write that the SDK repeated', () => {
  // An attempt came two minutes late after a wait of an hour.
  it('claims a due delivery for the sweeper, which sends its message', async () => {
    world.publishEvent();
    world.answers.push(answer(503, { 'retry-after': '3600' }));
    await world.step('first');
    const delivery = waiting();
    await world.run(delivery.wait.sweepAt);
    repeatUpdate();
    expect(await store().claim(delivery, waitAfterSweep(delivery.wait, world.now()))).toBe(true);
  });

  it('claims nothing that another sweeper has', async () => {
    world.publishEvent();
    world.answers.push(answer(500));
    await world.step('first');
    const delivery = waiting();
    await world.pass(5 * minute);
    expect(await store().claim(delivery, waitAfterSweep(delivery.wait, world.now()))).toBe(true);
    await world.pass(1);
    repeatUpdate();
    expect(await store().claim(delivery, waitAfterSweep(delivery.wait, world.now()))).toBe(false);
  });

  describe('of a replay', () => {
    const { id, path } = { id: replayIdOf('0'.repeat(22)), path: '/v1/webhooks/demanda.criada/reenvios' };
    const replays = () => makeReplayStore({ dynamo, table: 'Deliveries', now: world.now });
    const begin = async () => {
      const now = world.now();
      const replay = {
        ...owner,
        ...({ id, webhookId: 'webhook-1', from: now - minute, to: now, wanted: 'failed', state: 'running' } as const),
        ...({ startedAt: now, sent: 0, pass: 1 } as const),
      };
      await replays().start(replay, undefined);
      return replay;
    };

    it('saves what it has sent', async () => {
      const replay = await begin();
      repeatUpdate();
      expect(await replays().save({ ...replay, sent: 10 })).toMatchObject({ id, sent: 10 });
    });

    // It was forgotten, as one that had ended already: 404 in place of `cancelado`.
    it('cancels it, and does not forget it', async () => {
      await begin();
      repeatUpdate();
      expect(await world.request('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 });
      const shown = await world.request('GET', `${path}/${id}`);
      expect(shown).toMatchObject({ status: 200, json: { estado: 'cancelado' } });
    });
  });

  // No line of the log told that it was suspended.
  it('suspends a webhook whose receiver answers 410, and tells of it', async () => {
    world.publishEvent();
    world.answers.push(answer(410));
    world.during.push(async () => repeatUpdate());
    await world.step('first');
    expect(await world.webhook()).toMatchObject({ status: 'suspended', unannounced: { reason: 'gone' } });
    expect(world.logged('webhook.suspended')).toBe(1);
  });
});
