import { describe, expect, it } from 'vitest';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import {
  afterRestarts,
  afterWrites,
  beforeRestart,
  beforeRestarts,
  begun,
  day,
  fill,
  hour,
  path,
  request,
  shortestGap,
  show,
  slots,
  start,
} from './replay-world.ts';

useDeliveryWorld();

describe('a replay, slot by slot,', { timeout: 30_000 }, () => {
  it('sends ten a second: the first at once, then a minute’s worth with each sweep', async () => {
    await fill(800, 'held');
    await world.pass(hour);
    const begun = world.now();
    const { json } = await start('held');
    expect(json).toMatchObject({ estado: 'em_andamento', total: 800, enviadas: 1 });
    while ((await show(json.id)).estado === 'em_andamento') {
      await world.pass(60_000);
      await world.sweep();
    }
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', total: 800, enviadas: 800 });
    const dues = world
      .deliveries()
      .map(({ wait }) => (wait?.nextAttemptAt ?? 0) - begun)
      .toSorted((a, b) => a - b);
    expect(dues[0]).toBe(0);
    for (const [at, due] of dues.entries())
      expect(due - (dues[at - 10] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(1_000);
    expect(dues.at(-1)).toBeLessThan(800 * 100 + 2 * 60_000);
  });

  it('keeps to ten a second, and counts each delivery once, when two slow processes work on it', async () => {
    await fill(600, 'failed');
    // webhook, latest replay, begin: then the process dies
    await world.request('POST', path, { body: { ...day, estado: 'falhou' } }, { afterCalls: 3, hasEffect: false });
    await world.pass(20_000);
    const goOn = await world.work(() => world.sweep(), beforeRestart(510));
    await world.pass(51_000);
    const goOnToo = await world.work(() => world.sweep(), beforeRestart(40));
    await goOn();
    await goOnToo();
    expect(slots()).toHaveLength(600);
    expect(shortestGap()).toBe(100);
    const [replay] = world.items().filter(({ id }) => id.startsWith('replays#'));
    expect(replay).toMatchObject({ state: 'completed', total: 600, sent: 600 });
  });

  // Found by the model: it ended at the last slot that was saved, and what a dead process had sent could not be withdrawn.
  it('can be cancelled until the last slot that a dead process had reserved', async () => {
    await fill(600, 'failed');
    await world.work(start, afterWrites(0, true));
    await world.pass(20_000);
    await world.work(() => world.sweep(), afterRestarts(600));
    await world.pass(52_000);
    await world.sweep();
    const [replayId = ''] = begun();
    expect(await show(replayId)).toMatchObject({ estado: 'em_andamento', total: 600, enviadas: 521 });
    expect((await request('DELETE', `${path}/${replayId}`)).status).toBe(204);
    await world.settle();
    expect(world.posts).toHaveLength(521);
    expect(await show(replayId)).toEqual({ id: replayId, estado: 'cancelado', total: 600, enviadas: 521 });
  });

  it('is not sent in a burst by a process that was frozen: missed slots are replaced by new ones', async () => {
    await fill(100, 'failed');
    const goOn = await world.work(start, beforeRestart(31));
    await world.pass(9_000);
    const before = world.waiting('retries').length;
    await goOn();
    const left = world
      .waiting('retries')
      .slice(before)
      .filter(({ visibleAt }) => visibleAt <= world.now());
    expect(left.length).toBeLessThanOrEqual(10);
    expect(shortestGap()).toBe(100);
    await world.settle();
    expect(world.posts).toHaveLength(100);
  });

  it('goes on with a slot of now behind a sweeper that stood still, and reserves none that has passed', async () => {
    await fill(300, 'failed');
    await world.work(start);
    await world.pass(10 * 60_000);
    const before = slots().length;
    world.operations.length = 0;
    await world.work(() => world.sweep());
    const sent = slots().length - before;
    expect(sent).toBe(200);
    const writes = world.operations.filter(name => /^(?:Put|Update)/.test(name)).length;
    expect(writes - sent - before).toBeLessThan(20); // those from before are overdue: the sweep sends them, too
    expect(shortestGap()).toBe(100);
  });

  it('keeps the slots for which it is a little late', async () => {
    await fill(30, 'failed');
    const goOn = await world.work(start, beforeRestarts);
    await world.pass(900);
    await goOn();
    expect(slots()).toHaveLength(30);
    expect(shortestGap()).toBe(100);
  });

  it.each([42, 47, 100])('leaves at most ten to the sweeper when a process dies after %i calls', async afterCalls => {
    await fill(120, 'failed');
    await world.request('POST', path, { body: { ...day, estado: 'falhou' } }, { afterCalls, hasEffect: true });
    await world.settle();
    expect(world.posts).toHaveLength(120);
    expect(world.counts.SweptOverdue ?? 0).toBeLessThanOrEqual(10);
  });
});
