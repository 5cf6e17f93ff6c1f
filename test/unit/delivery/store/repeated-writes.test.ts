import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { slownessId } from '../../../../lambdas/delivery/isolation/slow-since.ts';
import { withSlowDns } from '../../../../lambdas/delivery/isolation/slowness.ts';
import { makeSlownessStore } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { replayIdOf } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { waitAfterSweep } from '../../../../lambdas/delivery/transitions.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { answer } from '../builders.ts';
import { simulate } from '../simulation.ts';

const minute = 60_000;
const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;

let database: Database;
let world: Awaited<ReturnType<typeof simulate>>;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
});
afterAll(() => database.stop());
beforeEach(async () => {
  world = await simulate(database);
  await world.register();
});

const publish = () => world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
const only = async () => {
  const [delivery] = await world.all();
  if (!delivery?.wait) throw new Error('nothing waits');
  return { ...delivery, wait: delivery.wait };
};
const repeatUpdate = () => database.repeatNext('UpdateItemCommand');
const slownessStore = () =>
  makeSlownessStore({ dynamo: database.dynamo, table: 'Deliveries', now: world.clock.now, rate: 20 });

/** What the SDK repeats after a lost answer meets its own first try, and is refused. */
describe('a conditional write that the SDK repeated', () => {
  // An attempt came two minutes late after a wait of an hour.
  it('claims a due delivery for the sweeper, which sends its message', async () => {
    publish();
    world.answers.push(answer(503, { 'retry-after': '3600' }));
    await world.deliverNext();
    const delivery = await only();
    world.clock.set(delivery.wait.sweepAt);
    repeatUpdate();
    expect(await world.store.claim(delivery, waitAfterSweep(delivery.wait, world.clock.now()))).toBe(true);
  });

  it('claims nothing that another sweeper has', async () => {
    publish();
    world.answers.push(answer(500));
    await world.deliverNext();
    const delivery = await only();
    world.clock.advance(5 * minute);
    expect(await world.store.claim(delivery, waitAfterSweep(delivery.wait, world.clock.now()))).toBe(true);
    world.clock.advance(1);
    repeatUpdate();
    expect(await world.store.claim(delivery, waitAfterSweep(delivery.wait, world.clock.now()))).toBe(false);
  });

  // A minute of a slow webhook's slots stayed unused.
  it('reserves slots for the sweeper', async () => {
    const slowness = await slownessStore().change(owner, known => withSlowDns(known, world.clock.now()));
    repeatUpdate();
    const after = { ...slowness, nextSlotAt: world.clock.now() + 10_000 };
    expect(await slownessStore().reserveUntil(slowness, after)).toBe(true);
  });

  it('claims the task of a slow webhook', async () => {
    const slowness = await slownessStore().change(owner, known => withSlowDns(known, world.clock.now()));
    await slownessStore().beginWaiting(slowness);
    const id = slownessId(owner);
    const { dueAt = '' } = (await slownessStore().read(id)) ?? {};
    repeatUpdate();
    expect(await slownessStore().claim({ id, dueShard: 'tasks', dueAt }, world.clock.now() + minute)).toBe(true);
  });

  it('learns of a slow attempt once', async () => {
    repeatUpdate();
    const changed = await slownessStore().change(owner, known => withSlowDns(known, world.clock.now()));
    expect(changed).toMatchObject({ version: 1, slowSince: world.clock.now() });
    expect(await slownessStore().read(slownessId(owner))).toMatchObject({ version: 1 });
  });

  describe('of a replay', () => {
    const { id, path } = { id: replayIdOf('0'.repeat(22)), path: '/v1/webhooks/demanda.criada/reenvios' };
    const replays = () =>
      makeReplayStore({ dynamo: database.dynamo, table: 'Deliveries', now: world.clock.now, historyDays: 30 });
    const begin = async () => {
      const now = world.clock.now();
      const replay = {
        ...owner,
        ...({ id, webhookId: 'webhook-1', from: now - minute, to: now, wanted: 'failed', state: 'running' } as const),
        ...{ startedAt: now, total: 0, countCursor: null, sent: 0, lastSlotAt: now, sendCursor: '', inFlight: [] },
        ...{ nextSlotAt: now, claim: 1, lookAt: now },
      };
      await replays().start(replay, undefined);
      return replay;
    };

    it('claims it', async () => {
      const replay = await begin();
      repeatUpdate();
      expect(await replays().claim(replay, world.clock.now() + minute)).toMatchObject({ id, claim: 2 });
    });

    // It was hidden, as one that had ended already: 404 in place of `cancelado`.
    it('cancels it, and does not hide it', async () => {
      await begin();
      repeatUpdate();
      expect(await world.request('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 });
      const shown = await world.request('GET', `${path}/${id}`);
      expect(shown).toMatchObject({ status: 200, json: { estado: 'cancelado' } });
    });
  });

  // Neither the metric nor the line of the log told that it was suspended.
  it('suspends a webhook whose receiver answers 410, and tells of it', async () => {
    publish();
    world.answers.push(answer(410));
    world.during.push(async () => repeatUpdate());
    await world.deliverNext();
    expect(await world.webhook()).toMatchObject({ status: 'suspended', announcements: [{ reason: 'gone' }] });
    expect(world.counts).toMatchObject({ WebhookSuspended: 1, Held: 1 });
    expect(world.lines.filter(line => line.includes('webhook.suspended'))).toHaveLength(1);
  });
});
