import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { replayRecord } from '../../../../lambdas/delivery/api/answers.ts';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { aDelivery, answer } from '../builders.ts';
import {
  beforeRestart,
  codeOf,
  day,
  dueTimes,
  fill,
  hour,
  iso,
  minute,
  path,
  request,
  show,
  start,
  sweepMinutes,
} from './replay-world.ts';

useDeliveryWorld();

describe('a replay', { timeout: 30_000 }, () => {
  it('sends the failed deliveries of the range again, newest first, and shows its progress', async () => {
    await fill(3, 'failed');
    await fill(2, 'held');
    await fill(2, 'delivered');
    const { status, headers, json } = await start();
    expect([status, headers.location]).toEqual([202, `${path}/${json.id}`]);
    expect(json).toEqual({ id: expect.stringMatching(/^reenvio_/), estado: 'em_andamento', enviadas: 3 });
    expect(() => z.strictObject(replayRecord.shape).parse(json)).not.toThrow();
    await world.settle();
    expect(world.posts.map(({ id }) => Number(id.slice(-1)))).toEqual([2, 1, 0]);
    expect(await show(json.id)).toEqual({ id: json.id, estado: 'concluido', enviadas: 3 });
    const states = world.deliveries().map(({ state }) => state);
    expect(states.toSorted()).toEqual([...Array(5).fill('delivered'), 'held', 'held']);
  });

  it('sends 50 deliveries at once, then those of a minute with each sweep, ten a second', async () => {
    await fill(800, 'held');
    await world.pass(hour);
    const { json } = await start('held');
    expect(json).toMatchObject({ estado: 'em_andamento', enviadas: 50 });
    const shown: unknown[] = [];
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      await sweepMinutes(1);
      shown.push(await show(json.id));
    }
    expect(shown).toMatchObject([
      { estado: 'em_andamento', enviadas: 650 },
      { estado: 'concluido', enviadas: 800 },
    ]);
    const gaps = dueTimes().map((dueAt, at, all) => dueAt - (all[at - 1] ?? Number.NEGATIVE_INFINITY));
    expect(gaps).toHaveLength(800);
    expect(Math.min(...gaps)).toBe(100);
  });

  it('reads the range once more after 10 seconds, and finds what the index missed at first', async () => {
    await fill(3, 'failed');
    let lags = true;
    world.intercept((command, next) => {
      const answer = next(command);
      return lags && command instanceof QueryCommand ? { ...answer, Items: [] } : answer;
    });
    const { json } = await start();
    expect(json).toMatchObject({ estado: 'em_andamento', enviadas: 0 });
    lags = false;
    await world.pass(9_000);
    await world.sweep();
    expect(await show(json.id)).toMatchObject({ estado: 'em_andamento', enviadas: 0 });
    await world.pass(2_000);
    await world.sweep();
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 3 });
  });

  // Three that counted for as long as a sweep had time kept all other tasks out of it.
  it('leaves a sweep to other tasks after ten seconds, and continues in the next', async () => {
    await fill(600, 'failed');
    const { json } = await start();
    await world.pass(minute);
    for (let save = 0; save < 3; save++) world.between('UpdateCommand', () => world.pass(4_000));
    await world.sweep();
    expect(await show(json.id)).toMatchObject({ estado: 'em_andamento', enviadas: 350 });
    await sweepMinutes(1);
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 600 });
  });

  it('sends no burst after a sweep that stood still', async () => {
    await fill(100, 'failed');
    const goOn = await world.work(start, beforeRestart(31));
    await world.pass(9_000);
    await goOn();
    // The batch of ten that stood still is late, and the others wait for their turn.
    expect(dueTimes().filter(dueAt => dueAt < world.now())).toHaveLength(40);
    await world.settle();
    expect(world.posts).toHaveLength(100);
  });

  it('sends each delivery once when two sweeps work on it at the same time', async () => {
    await fill(300, 'failed');
    const { json } = await start();
    await world.pass(minute);
    const goOn = await world.work(() => world.sweep(), beforeRestart(120));
    await world.sweep();
    await goOn();
    expect(dueTimes()).toHaveLength(300);
    await world.settle();
    expect(world.posts).toHaveLength(300);
    expect((await show(json.id)).estado).toBe('concluido');
  });

  it.each([12, 40, 60, 90])('continues after its process died at call %i', async afterCalls => {
    await fill(120, 'failed');
    await world.request('POST', path, { body: { ...day, estado: 'falhou' } }, { afterCalls, hasEffect: true });
    await world.settle();
    expect(world.posts).toHaveLength(120);
  });

  it('includes desde and excludes ate, and sends what was in the state when it started', async () => {
    const [, second, , fourth] = await fill(5, 'failed');
    const { json } = await start('failed', { desde: iso(second?.createdAt ?? 0), ate: iso(fourth?.createdAt ?? 0) });
    expect(json).toMatchObject({ enviadas: 2 });
    world.answers.push(...Array.from({ length: 8 }, () => answer(500)));
    await world.settle();
    expect(world.deliveries().filter(({ state }) => state === 'failed')).toHaveLength(5);
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 2 });
  });

  it('leaves out deliveries that reached the state after it started', async () => {
    const [first] = await fill(3, 'failed');
    // webhook, latest replay, start: then the process dies
    await world.request('POST', path, { body: { ...day, estado: 'falhou' } }, { afterCalls: 3, hasEffect: false });
    await world.pass(1);
    const late = aDelivery({ id: `evt_${'9'.repeat(27)}`, createdAt: first?.createdAt ?? 0 });
    await world.store.create(settled(late, 'failed', world.now()));
    await world.settle();
    expect(new Set(world.posts.map(({ id }) => id)).size).toBe(3);
    expect(world.deliveries().filter(({ state }) => state === 'failed')).toMatchObject([{ id: late.id }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['deliveries in another state', () => fill(2, 'delivered')],
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
  ])('leaves out %s', async (_, arrange) => {
    await arrange();
    await world.pass(1);
    const before = world.deliveries();
    const { json } = await start();
    await world.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 0 });
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
    expect(second).toMatchObject({ enviadas: 0 });
    expect(await show(first.id)).toEqual({ id: first.id, estado: 'concluido', enviadas: 200 });
  });

  it('starts once when several are requested at the same time', async () => {
    await fill(200, 'failed');
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  });

  it('stops at the next page when it is cancelled; what it has restarted is sent', async () => {
    await fill(400, 'failed');
    const { json } = await start();
    await world.pass(minute);
    world.between('UpdateCommand', async () => {
      expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    });
    await world.sweep();
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 150 });
    await world.settle();
    expect(world.posts).toHaveLength(150);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 150 });
    expect((await start()).json).toMatchObject({ estado: 'em_andamento', enviadas: 50 });
  });

  it('is forgotten by a DELETE after its end; what it sent stays sent', async () => {
    await fill(20, 'failed');
    const { json } = await start();
    const remove = () => request('DELETE', `${path}/${json.id}`);
    expect((await remove()).status).toBe(204);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado' });
    expect((await remove()).status).toBe(204);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
    expect(codeOf(await remove())).toBe('404 replay_not_found');
    await world.settle();
    expect(world.posts).toHaveLength(20);
    expect((await start()).status).toBe(202);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  it('stays forgotten when a start that read it before continues', async () => {
    const store = makeReplayStore({ dynamo: world.dynamo, table: 'Deliveries', now: world.now });
    const { json } = await start();
    await world.settle();
    const read = await store.findLatest('conta-1', 'demanda.criada');
    if (!read) throw new Error('no replay');
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect(await store.start({ ...read, id: 'reenvio_second' }, read)).toBe(true);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  // Bug: it was refused with 409 `replay_in_progress`, whose `Location` was a 404.
  it('starts though one that has ended is forgotten meanwhile', async () => {
    const { json } = await start();
    await world.settle();
    world.between('PutCommand', () => request('DELETE', `${path}/${json.id}`));
    expect((await start()).status).toBe(202);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  it('starts though the sweeper ends that of an earlier registration meanwhile', async () => {
    await fill(200, 'failed');
    await start();
    await world.register({ webhookId: 'webhook-2' });
    await world.pass(minute);
    world.between('PutCommand', () => world.sweep());
    expect((await start()).status).toBe(202);
  });

  it('is shown for 30 days, however many follow it, and can be forgotten', async () => {
    await fill(1, 'delivered');
    const ids: string[] = [];
    for (let time = 0; time < 5; time++) {
      ids.push((await start()).json.id);
      await sweepMinutes(1);
    }
    for (const id of ids) expect(await show(id)).toEqual({ id, estado: 'concluido', enviadas: 0 });
    const [first = '', second = ''] = ids;
    expect((await request('DELETE', `${path}/${second}`)).status).toBe(204);
    expect(codeOf(await request('GET', `${path}/${second}`))).toBe('404 replay_not_found');
    expect(await show(first)).toMatchObject({ estado: 'concluido' });
    await world.pass(30 * 24 * hour - 5 * minute);
    expect(await show(first)).toMatchObject({ estado: 'concluido' });
    await world.pass(2 * minute);
    expect(codeOf(await request('GET', `${path}/${first}`))).toBe('404 replay_not_found');
    expect(await show(ids.at(-1) ?? '')).toMatchObject({ estado: 'concluido' });
  });

  it('is still shown, and can be cancelled, after its webhook is deleted', async () => {
    await fill(150, 'failed');
    const { json } = await start();
    await world.remove();
    expect(await show(json.id)).toMatchObject({ id: json.id, estado: 'em_andamento' });
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado' });
    expect(codeOf(await request('GET', `${path}/reenvio_${'0'.repeat(22)}`))).toBe('404 webhook_not_found');
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

  it('ends when the webhook is suspended; what is in the queue is held, nothing is sent', async () => {
    await fill(250, 'failed');
    const { json } = await start();
    await world.register({ status: 'suspended', suspensionReason: 'operator' });
    await world.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 50 });
    const states = world.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'held')).toHaveLength(50);
    expect(states.filter(state => state === 'failed')).toHaveLength(200);
    expect(world.posts).toEqual([]);
  });

  it('ends when the webhook is registered anew: the new one gets nothing, and its own replay is not blocked', async () => {
    await fill(250, 'failed');
    const { json } = await start();
    await world.register({ webhookId: 'webhook-2' });
    const next = (await start()).json;
    expect(next).toMatchObject({ enviadas: 0 });
    await world.settle();
    expect(world.posts).toEqual([]);
    const states = world.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'cancelled')).toHaveLength(50); // what had started a new schedule
    expect(states.filter(state => state === 'failed')).toHaveLength(200);
    expect((await show(json.id)).estado).toBe('cancelado');
  });
});

describe('a request for a replay', () => {
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
    expect((await start('failed', late)).json).toMatchObject({ enviadas: 1 });
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
