import { BatchGetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { replayRecord } from '../../../../lambdas/delivery/api/answers.ts';
import { type AttemptOutcome, settled } from '../../../../lambdas/delivery/delivery.ts';
import { slotOf } from '../../../../lambdas/delivery/replay/replay.ts';
import { makeStartReplay } from '../../../../lambdas/delivery/replay/replay-start.ts';
import { makeReplayReader, makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { makeApplyOutcome, restarted } from '../../../../lambdas/delivery/transitions.ts';
import type { Dynamo, Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { aDelivery, answer, aRecord, aWebhook, failure, internalError, noon } from '../builders.ts';
import {
  beforeReservation,
  begun,
  codeOf,
  day,
  fill,
  hour,
  iso,
  path,
  request,
  show,
  slots,
  start,
} from './replay-world.ts';

useDeliveryWorld();

describe('a replay', { timeout: 30_000 }, () => {
  it('sends the failed deliveries of the range again, newest first, and shows its progress', async () => {
    await fill(3, 'failed');
    await fill(2, 'held');
    await fill(2, 'delivered');
    const { status, headers, json } = await start();
    expect([status, headers.location]).toEqual([202, `${path}/${json.id}`]);
    expect(json).toEqual({ id: expect.stringMatching(/^reenvio_/), estado: 'em_andamento', total: 3, enviadas: 1 });
    expect(() => z.strictObject(replayRecord.shape).parse(json)).not.toThrow();
    await world.settle();
    expect(world.posts.map(({ id }) => Number(id.slice(-1)))).toEqual([2, 1, 0]);
    expect(await show(json.id)).toEqual({ id: json.id, estado: 'concluido', total: 3, enviadas: 3 });
    const states = world.deliveries().map(({ state }) => state);
    expect(states.toSorted()).toEqual([...Array(5).fill('delivered'), 'held', 'held']);
    expect(world.counts).toMatchObject({ Replayed: 3 });
  });

  it('never sends more than it says there are, though the index lags while it counts', async () => {
    await fill(3, 'failed');
    let lags = true;
    world.intercept((command, next) => {
      const answer = next(command);
      if (command instanceof UpdateCommand) lags = false; // what was counted is saved
      return lags && command instanceof QueryCommand ? { ...answer, Items: [] } : answer;
    });
    const { json } = await start();
    expect(json).toMatchObject({ total: 3, enviadas: 1 });
    await world.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', total: 3, enviadas: 3 });
  });

  // Three that counted for as long as a sweep had time kept all other tasks out of it.
  it('leaves a sweep to other tasks after ten seconds, and goes on counting in the next', async () => {
    await fill(1_800, 'failed');
    const { json } = await start();
    const counted = () => world.items().find(({ id }) => id.startsWith('replays#'))?.total;
    expect(counted()).toBe(1_000);
    await world.pass(60_000);
    for (let save = 0; save < 9; save++) world.between('UpdateCommand', () => world.pass(4_000));
    await world.sweep();
    expect(counted()).toBe(1_300);
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      await world.pass(60_000);
      await world.sweep();
    }
    expect(await show(json.id)).toMatchObject({ total: 1_800 });
  });

  it('includes desde and excludes ate, and sends what was in the state when it began', async () => {
    const [, second, , fourth] = await fill(5, 'failed');
    const { json } = await start('failed', { desde: iso(second?.createdAt ?? 0), ate: iso(fourth?.createdAt ?? 0) });
    expect(json).toMatchObject({ total: 2 });
    world.answers.push(...Array.from({ length: 8 }, () => answer(500)));
    await world.settle();
    expect(world.deliveries().filter(({ state }) => state === 'failed')).toHaveLength(5);
    expect(await show(json.id)).toMatchObject({ total: 2, enviadas: 2 });
  });

  it('leaves out deliveries that reached the state after it began', async () => {
    const [first] = await fill(3, 'failed');
    // webhook, latest replay, begin: then the process dies
    await world.request('POST', path, { body: { ...day, estado: 'falhou' } }, { afterCalls: 3, hasEffect: false });
    await world.pass(1);
    const late = aDelivery({ id: `evt_${'9'.repeat(27)}`, createdAt: first?.createdAt ?? 0 });
    await world.store.create(settled(late, 'failed', world.now()));
    await world.settle();
    expect(new Set(world.posts.map(({ id }) => id)).size).toBe(3);
    expect(world.deliveries().filter(({ state }) => state === 'failed')).toMatchObject([{ id: late.id }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['what is in another state', () => fill(2, 'delivered')],
    [
      'a test',
      async () => {
        world.answers.push(answer(500));
        await request('POST', '/v1/webhooks/demanda.criada/teste');
        await world.settle();
      },
    ],
    [
      // They ended as cancelled.
      'deliveries of an earlier registration, whose final state never changes',
      async () => {
        await fill(3, 'failed');
        await world.register({ webhookId: 'webhook-2' });
      },
    ],
  ])('leaves out %s: one of nothing is completed at once', async (_, arrange) => {
    await arrange();
    await world.pass(1);
    const before = world.deliveries();
    expect((await start()).json).toMatchObject({ estado: 'concluido', total: 0, enviadas: 0 });
    await world.settle();
    expect(world.deliveries()).toEqual(before);
  });

  it('runs alone for its webhook; earlier ones are still shown', async () => {
    await fill(200, 'failed');
    const first = (await start()).json;
    expect(first.estado).toBe('em_andamento');
    const refused = await start();
    expect(codeOf(refused)).toBe('409 replay_in_progress');
    expect(refused.headers.location).toBe(`${path}/${first.id}`); // who lost the first answer finds it
    await world.register({ eventName: 'demanda.cancelada', webhookId: 'webhook-2' });
    const other = { body: { ...day, estado: 'falhou' } };
    expect((await request('POST', '/v1/webhooks/demanda.cancelada/reenvios', other)).status).toBe(202);
    await world.settle();
    const second = (await start()).json;
    expect(second).toMatchObject({ total: 0 });
    expect(await show(first.id)).toEqual({ id: first.id, estado: 'concluido', total: 200, enviadas: 200 });
    expect(await show(second.id)).toMatchObject({ estado: 'concluido' });
  });

  it('starts once when several are requested at the same time', async () => {
    await fill(200, 'failed');
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  });

  // It was over as soon as the queue had them all: a second one could begin, and a cancelled one went on sending.
  it('is running until the slot of its last delivery, and can be cancelled until then', async () => {
    await fill(20, 'failed');
    const { json } = await start();
    await world.pass(550);
    expect(await show(json.id)).toMatchObject({ estado: 'em_andamento', total: 20, enviadas: 6 });
    expect(codeOf(await start())).toBe('409 replay_in_progress');
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', total: 20, enviadas: 6 });
    await world.settle();
    expect(world.posts).toHaveLength(6);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', total: 20, enviadas: 6 });
    const [left] = world.deliveries().filter(({ state }) => state === 'failed');
    expect((await request('POST', `/v1/webhooks/demanda.criada/entregas/${left?.id}/reenvio`)).status).toBe(202);
    await world.settle();
    expect(world.posts).toHaveLength(7);
  });

  // The outcome of an attempt may put the replay's id back that a resend took away: a cancellation undid that resend.
  it.each<[string, AttemptOutcome]>([
    ['failed', failure({ startedAt: iso(noon + 100) })],
    ['was given up', { outcome: 'given_up', record: aRecord({ result: 'slow', startedAt: iso(noon + 100) }) }],
    ['could not be made', internalError({ startedAt: iso(noon + 100) })],
  ])('withdraws nothing whose first attempt %s', (_, outcome) => {
    const earlier = aDelivery({ attempt: 2, attempts: [aRecord({ startedAt: iso(noon - hour) })] });
    const waiting = { ...restarted(earlier, noon, 100), replayId: 'reenvio_1', replaySlotAt: noon + 100 };
    expect(slotOf(waiting)).toBe(noon + 100);
    const applyOutcome = makeApplyOutcome({ schedule: [5_000], now: () => noon + 600, random: () => 1 });
    expect(slotOf(applyOutcome(waiting, outcome))).toBeUndefined();
  });

  it('is hidden by a DELETE after its end; what it sent stays sent', async () => {
    await fill(20, 'failed');
    const { json } = await start();
    const remove = () => request('DELETE', `${path}/${json.id}`);
    expect((await remove()).status).toBe(204);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado' });
    expect((await remove()).status).toBe(204);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
    expect(codeOf(await remove())).toBe('404 replay_not_found');
    await world.settle(); // the queue still holds what was cancelled
    expect(world.posts).toHaveLength(1);
    await world.pass(12_000);
    expect((await start()).json).toMatchObject({ total: 19 });
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  // Bug: it left out what the cancelled one had sent and its message had not withdrawn yet, and said that it had sent all.
  it('sends also what one had begun that was cancelled just before', async () => {
    await fill(200, 'failed');
    const { json: first } = await start();
    await request('DELETE', `${path}/${first.id}`);
    await world.pass(500);
    const { json: second } = await start();
    expect(second).toMatchObject({ estado: 'em_andamento', total: null });
    for (let sweep = 0; sweep < 4; sweep++) {
      await world.settle();
      await world.pass(60_000);
      await world.sweep();
    }
    expect(await show(second.id)).toMatchObject({ estado: 'concluido' });
    expect(world.deliveries().filter(({ state }) => state !== 'delivered')).toEqual([]);
    expect(world.posts).toHaveLength(200);
  });

  it('stays hidden when a start that read it before goes on', async () => {
    const { now } = world;
    const store = makeReplayStore({ dynamo: world.dynamo, table: 'Deliveries', now });
    const { json } = await start(); // of nothing: it ended at once
    const read = await store.findLatest('conta-1', 'demanda.criada');
    if (!read) throw new Error('no replay');
    const next = (name: string) => ({ ...read, id: `reenvio_${name}` });
    const remove = () => request('DELETE', `${path}/${json.id}`);
    const isHidden = async () => codeOf(await request('GET', `${path}/${json.id}`)) === '404 replay_not_found';
    await world.pass(1);
    expect((await remove()).status).toBe(204);
    expect(await store.start(next('stalled'), read)).toBe(false);
    expect(await isHidden()).toBe(true);

    const hidden = await store.findLatest('conta-1', 'demanda.criada');
    expect(await store.start(next('second'), hidden)).toBe(true);
    expect(await isHidden()).toBe(true);
    expect(await store.start(next('stalled'), read)).toBe(false);
    expect(await isHidden()).toBe(true);
  });

  // Bug: it was refused with 409 `replay_in_progress`, whose `Location` was a 404.
  it('begins though one that has ended is hidden meanwhile', async () => {
    const { json } = await start(); // of nothing: it ended at once
    await world.pass(1);
    world.between('PutCommand', () => request('DELETE', `${path}/${json.id}`));
    expect((await start()).status).toBe(202);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  it('begins though the sweeper ends that of an earlier registration meanwhile', async () => {
    await fill(200, 'failed');
    await start();
    await world.register({ webhookId: 'webhook-2' });
    await world.pass(60_000);
    world.between('PutCommand', () => world.sweep());
    expect((await start()).status).toBe(202);
  });

  it('is shown for 30 days, however many follow it, and can be hidden', async () => {
    await fill(1, 'delivered');
    const ids: string[] = [];
    for (let time = 0; time < 25; time++) {
      ids.push((await start()).json.id);
      await world.pass(1_000);
    }
    for (const id of ids) expect(await show(id)).toEqual({ id, estado: 'concluido', total: 0, enviadas: 0 });
    const [first = '', second = ''] = ids;
    expect((await request('DELETE', `${path}/${second}`)).status).toBe(204);
    expect(codeOf(await request('GET', `${path}/${second}`))).toBe('404 replay_not_found');
    expect(await show(first)).toMatchObject({ estado: 'concluido' });
    await world.pass(30 * 24 * hour - 26_000);
    expect(await show(first)).toMatchObject({ estado: 'concluido' });
    await world.pass(3_000);
    expect(codeOf(await request('GET', `${path}/${first}`))).toBe('404 replay_not_found');
    const latest = ids.at(-1) ?? '';
    expect(await show(latest)).toMatchObject({ estado: 'concluido' });
    await world.pass(24_000);
    expect(codeOf(await request('GET', `${path}/${latest}`))).toBe('404 replay_not_found');
  });

  it('is still shown, and can be cancelled, after its webhook is deleted', async () => {
    await fill(150, 'failed');
    const { json } = await start();
    await world.remove();
    expect(await show(json.id)).toMatchObject({ id: json.id, total: 150 });
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado' });
    expect(codeOf(await request('GET', `${path}/reenvio_${'0'.repeat(22)}`))).toBe('404 webhook_not_found');
  });

  // The two items of a reading are read one after the other: deliveries of a cancelled replay were POSTed.
  it('is found where the next one begins while it is read', async () => {
    await fill(30, 'failed');
    const { json } = await start();
    await request('DELETE', `${path}/${json.id}`);
    let begin = async () => void (await start());
    const readApart: Dynamo = async (command, options) => {
      if (!(command instanceof BatchGetCommand)) return world.dynamo(command, options);
      const found: Item[] = [];
      for (const key of command.input.RequestItems?.Deliveries?.Keys?.toReversed() ?? []) {
        const one = new BatchGetCommand({ RequestItems: { Deliveries: { Keys: [key], ConsistentRead: true } } });
        found.push(...((await world.dynamo(one)).Responses?.Deliveries ?? []));
        await begin();
        begin = async () => undefined;
      }
      return { Responses: { Deliveries: found } } as never;
    };
    const reader = makeReplayReader({ dynamo: readApart, table: 'Deliveries', now: world.now });
    const { replay } = (await reader.find('conta-1', 'demanda.criada', json.id)) ?? {};
    expect(replay).toMatchObject({ id: json.id, state: 'cancelled' });
  });

  it('sends nothing when it is cancelled before its first slots are reserved, however late that is noticed', async () => {
    await fill(30, 'failed');
    const goOn = await world.work(start, beforeReservation);
    await request('DELETE', `${path}/${begun()[0]}`);
    await goOn();
    expect(slots()).toEqual([]);
  });

  it('can send held deliveries after reactivation', async () => {
    await fill(3, 'held');
    await world.register({ status: 'suspended', suspensionReason: 'gone' });
    expect(codeOf(await start('held'))).toBe('409 webhook_suspended');
    await world.register();
    await start('held');
    await world.settle();
    expect(world.deliveries()).toMatchObject(Array(3).fill({ state: 'delivered' }));
  });

  it('ends when the webhook is suspended; what is in the queue is held again, nothing is sent', async () => {
    await fill(250, 'failed');
    const { json } = await start();
    await world.register({ status: 'suspended', suspensionReason: 'operator' });
    await world.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 100 });
    const states = world.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'held')).toHaveLength(100);
    expect(states.filter(state => state === 'failed')).toHaveLength(150);
    expect(world.posts).toEqual([]);
  });

  it('ends when the webhook is registered anew: the new one gets nothing, and its own replay is not blocked', async () => {
    await fill(250, 'failed');
    const { json } = await start();
    await world.register({ webhookId: 'webhook-2' });
    const next = (await start()).json;
    expect(next).toMatchObject({ total: 0, enviadas: 0 });
    await world.settle();
    expect(world.posts).toEqual([]);
    const states = world.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'cancelled')).toHaveLength(100); // what had begun a new schedule
    expect(states.filter(state => state === 'failed')).toHaveLength(150);
    expect((await show(json.id)).estado).toBe('cancelado');
  });

  // Bug: it looked at the webhook once for a hundred, and up to ninety that had ended as failed became cancelled.
  it('begins nothing more than a second’s worth beside a DELETE of its webhook: the others keep their final state', async () => {
    await fill(100, 'failed');
    let restarts = 0;
    world.intercept((command, next) => {
      const isRestart = command instanceof PutCommand && command.input.Item?.state === 'pending';
      if (isRestart && ++restarts === 15) void world.remove();
      return next(command);
    });
    const { json } = await start();
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', total: 100, enviadas: 1 });
    await world.settle();
    const states = world.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'failed')).toHaveLength(80);
    expect(world.posts).toEqual([]);
  });
});

describe('a request for a replay', () => {
  it('begins no page once fifty are sent, however slow the store is', async () => {
    const asked: boolean[] = [];
    const startReplay = makeStartReplay({
      replays: { findLatest: async () => undefined, start: async () => true },
      run: async (replay, _, hasTime) => void asked.push(...[0, 49, 50].map(sent => hasTime({ ...replay, sent }))),
      makeId: () => 'x',
      now: () => noon,
      log: world.log,
    });
    await startReplay(aWebhook(), { from: noon - hour, to: noon, wanted: 'failed' });
    expect(asked).toEqual([true, true, false]);
  });

  it.each([
    [{}, ['/ate required', '/desde required', '/estado required']],
    [{ ...day, estado: 'entregue' }, ['/estado invalid_value']],
    [{ ...day, estado: 'pendente' }, ['/estado invalid_value']],
    [{ ...day, estado: 'cancelada' }, ['/estado invalid_value']],
    [{ ...day, estado: 1 }, ['/estado wrong_type']],
    [{ ...day, estado: 'falhou', desde: '2026-11-20 12:00:00Z' }, ['/desde invalid_value']],
    [{ ...day, estado: 'falhou', ate: 1_795_000_000 }, ['/ate wrong_type']],
    [{ ...day, estado: 'falhou', ate: '2026-11-19T23:59:59Z' }, ['/ate invalid_value']],
    [{ ...day, estado: 'falhou', ate: day.desde }, ['/ate invalid_value']],
    [{ ...day, ate: day.desde, outro: 1 }, ['/ate invalid_value', '/estado required', '/outro unknown_field']],
    [null, [' wrong_type']],
    [{ ...day, estado: 'falhou', evento: 'demanda.criada' }, ['/evento unknown_field']],
    [[], [' wrong_type']],
  ])('%j is refused with every finding', async (body, findings) => {
    const refused = await request('POST', path, { body });
    expect(codeOf(refused)).toBe('422 validation_failed');
    const found = refused.json.errors.map(
      ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`,
    );
    expect(found.toSorted()).toEqual(findings);
    const without = await request('POST', '/v1/webhooks/demanda.cancelada/reenvios', { body });
    expect(codeOf(without)).toBe('422 validation_failed');
  });

  it('accepts offsets, and an end in the future', async () => {
    await fill(1, 'failed');
    const late = { desde: '2026-11-20T09:00:00-03:00', ate: '9999-12-31T23:59:59-12:00' };
    expect((await start('failed', late)).json).toMatchObject({ total: 1 });
  });
});

describe('an unknown replay', () => {
  it.each([
    `reenvio_${'0'.repeat(22)}`,
    `reenvio_${'0'.repeat(22)}\n`,
    'reenvio_x',
    'x',
    '%00',
    'x'.repeat(3_000),
    '__proto__',
  ])('%s', async id => {
    for (const method of ['GET', 'DELETE']) {
      expect(codeOf(await request(method, `${path}/${id}`))).toBe('404 replay_not_found');
    }
  });
});
