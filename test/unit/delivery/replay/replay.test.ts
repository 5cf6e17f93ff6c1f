import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { replayRecord } from '../../../../lambdas/delivery/api/answers.ts';
import { type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeReplayStore } from '../../../../lambdas/delivery/replay/replay-store.ts';
import { wireStates } from '../../../../lambdas/delivery/representation.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { putAll } from '../../../support/database/put-all.ts';
import { type Answered, makeStage, type Sent, type Stage } from '../../../support/stage.ts';
import { aDelivery, answer } from '../builders.ts';

let stage: Stage;
/** The due times of the deliveries that replays have restarted. */
let dueTimes: number[] = [];
/** The number of those that were over when they were stored. */
let overdue = 0;
/** True while indexes show nothing. */
let isIndexBehind = false;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
  const { execute } = stage.tables;
  dueTimes = [];
  overdue = 0;
  vi.spyOn(stage.tables, 'execute').mockImplementation(command => {
    const { state, settledAt, nextAttemptAt } = command instanceof PutCommand ? { ...command.input.Item } : {};
    if (state === 'pending' && settledAt === undefined) {
      dueTimes.push(nextAttemptAt);
      if (nextAttemptAt < stage.now()) overdue += 1;
    }
    const found = execute(command);
    return isIndexBehind && command instanceof QueryCommand ? { ...found, Items: [] } : found;
  });
});

const path = '/v1/webhooks/demanda.criada/reenvios';
const minute = 60_000;
const hour = 60 * minute;
const iso = (moment: number) => new Date(moment).toISOString();
const request = (method: string, at: string, sent?: Sent) => stage.request(method, at, sent);
const codeOf = ({ status, json }: Answered) => `${status} ${json?.code}`;
const replays = () => makeReplayStore({ dynamo: stage.dynamo, table: 'Deliveries', now: stage.now });
const latest = async () => {
  const replay = await replays().findLatest('conta-1', 'demanda.criada');
  if (!replay) throw new Error('no replay');
  return replay;
};

/** Stores ended deliveries, one accepted each second from now, and returns them oldest first. */
const fill = async (count: number, state: Exclude<DeliveryState, 'pending'>) => {
  const made = Array.from({ length: count }, (_, number) => {
    const id = `evt_${state.slice(0, 4)}${String(number).padStart(23, '0')}`;
    const createdAt = stage.now() + number * 1_000;
    return settled(aDelivery({ id, createdAt, scheduledAt: createdAt, attempt: 5 }), state, createdAt + 1);
  });
  const items = made.map(delivery => itemFromDelivery(delivery));
  await putAll(stage.dynamo, 'Deliveries', items);
  await stage.pass(count * 1_000 + 1);
  return made;
};

const dieAt = (call: number) => stage.dieAt('deliveries-api', call);

const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T23:00:00Z' };
const start = (state: 'failed' | 'held' = 'failed', changes: object = {}) =>
  request('POST', path, { body: { ...day, estado: wireStates[state], ...changes } });
const show = async (id: string) => (await request('GET', `${path}/${id}`)).json;

describe('a replay', { timeout: 30_000 }, () => {
  it('sends the failed deliveries of the range again, newest first, and shows its progress', async () => {
    await fill(3, 'failed');
    await fill(2, 'held');
    await fill(2, 'delivered');
    const { status, headers, json } = await start();
    expect([status, headers.location]).toEqual([202, `${path}/${json.id}`]);
    expect(json).toEqual({ id: expect.stringMatching(/^reenvio_/), estado: 'em_andamento', enviadas: 3 });
    expect(() => z.strictObject(replayRecord.shape).parse(json)).not.toThrow();
    await stage.settle();
    expect(stage.posts.map(({ id }) => Number(id.slice(-1)))).toEqual([2, 1, 0]);
    expect(await show(json.id)).toEqual({ id: json.id, estado: 'concluido', enviadas: 3 });
    const states = stage.deliveries().map(({ state }) => state);
    expect(states.toSorted()).toEqual([...Array(5).fill('delivered'), 'held', 'held']);
  });

  it('sends 50 deliveries at once, then those of a minute with each sweep, ten a second', async () => {
    await fill(800, 'held');
    await stage.run(Math.ceil(stage.now() / minute) * minute + 1);
    const { json } = await start('held');
    expect(json).toMatchObject({ estado: 'em_andamento', enviadas: 50 });
    await stage.pass(minute);
    expect(await show(json.id)).toMatchObject({ estado: 'em_andamento', enviadas: 650 });
    await stage.pass(minute);
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 800 });
    const due = dueTimes.toSorted((one, other) => one - other);
    const gaps = due.map((dueAt, at) => dueAt - (due[at - 1] ?? Number.NEGATIVE_INFINITY));
    expect(gaps).toHaveLength(800);
    expect(Math.min(...gaps)).toBe(100);
  });

  it('reads the range once more after 10 seconds, and finds what the index missed at first', async () => {
    await fill(3, 'failed');
    isIndexBehind = true;
    const { json } = await start();
    expect(json).toMatchObject({ estado: 'em_andamento', enviadas: 0 });
    isIndexBehind = false;
    await stage.pass(9_000);
    await stage.sweep();
    expect(await show(json.id)).toMatchObject({ estado: 'em_andamento', enviadas: 0 });
    await stage.pass(2_000);
    await stage.sweep();
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 3 });
  });

  // Three that counted for as long as a sweep had time kept all other tasks out of it.
  it('leaves a sweep to other tasks after ten seconds, and continues in the next', async () => {
    await fill(600, 'failed');
    const { json } = await start();
    let tries = 0;
    stage.faults.fateOf = ({ operation }) => (operation === 'Update' && tries++ % 3 < 2 ? 'request_lost' : 'fine');
    await stage.pass(1.5 * minute); // each save takes two seconds
    const { enviadas } = await show(json.id);
    expect(enviadas).toBeGreaterThan(150);
    expect(enviadas).toBeLessThan(600);
    stage.faults.fateOf = undefined;
    await stage.pass(minute);
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 600 });
  });

  it('sends no burst after a process that stood still', async () => {
    await fill(100, 'failed');
    let tries = 0;
    stage.faults.fateOf = ({ operation, resource }) =>
      operation === 'Put' && resource === 'Deliveries' && ++tries % 11 === 1 && tries < 40 ? 'request_lost' : 'fine';
    await start();
    await stage.settle();
    expect(dueTimes).toHaveLength(100);
    expect(overdue).toBeLessThanOrEqual(4); // those whose own call was lost
    expect(stage.posts).toHaveLength(100);
  });

  it('sends each delivery once when two sweeps work on it at the same time', async () => {
    await fill(300, 'failed');
    const { json } = await start();
    await Promise.all([stage.sweep(), stage.sweep()]);
    await stage.settle();
    expect(stage.posts).toHaveLength(300);
    expect((await show(json.id)).estado).toBe('concluido');
  });

  it.each([12, 40, 60, 90])('continues after its process died at call %i', async call => {
    await fill(120, 'failed');
    dieAt(call);
    await start();
    await stage.settle();
    expect(stage.posts).toHaveLength(120);
  });

  it('includes desde and excludes ate, and sends what was in the state when it started', async () => {
    const [, second, , fourth] = await fill(5, 'failed');
    const { json } = await start('failed', { desde: iso(second?.createdAt ?? 0), ate: iso(fourth?.createdAt ?? 0) });
    expect(json).toMatchObject({ enviadas: 2 });
    stage.answers.push(...Array.from({ length: 8 }, () => answer(500)));
    await stage.settle();
    expect(stage.deliveries().filter(({ state }) => state === 'failed')).toHaveLength(5);
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 2 });
  });

  it('leaves out deliveries that reached the state after it started', async () => {
    const [first] = await fill(3, 'failed');
    dieAt(4); // after the caller, webhook, latest replay, start
    await start();
    await stage.pass(1);
    const late = aDelivery({ id: `evt_${'9'.repeat(27)}`, createdAt: first?.createdAt ?? 0 });
    await stage.store.create(settled(late, 'failed', stage.now()));
    await stage.settle();
    expect(new Set(stage.posts.map(({ id }) => id)).size).toBe(3);
    expect(stage.deliveries().filter(({ state }) => state === 'failed')).toMatchObject([{ id: late.id }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['deliveries in another state', () => fill(2, 'delivered')],
    [
      'a test',
      async () => {
        stage.answers.push(answer(500));
        await request('POST', '/v1/webhooks/demanda.criada/teste');
        await stage.settle();
      },
    ],
    [
      // They ended as cancelled.
      'deliveries of an earlier registration, whose final state never changes',
      async () => {
        await fill(3, 'failed');
        await stage.register({ webhookId: 'webhook-2' });
      },
    ],
  ])('leaves out %s', async (_, arrange) => {
    await arrange();
    await stage.pass(1);
    const before = stage.deliveries();
    const { json } = await start();
    await stage.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', enviadas: 0 });
    expect(stage.deliveries()).toEqual(before);
  });

  it('runs alone for its webhook; earlier ones are still shown', async () => {
    await fill(200, 'failed');
    const first = (await start()).json;
    expect(first.estado).toBe('em_andamento');
    const refused = await start();
    expect(codeOf(refused)).toBe('409 replay_in_progress');
    expect(refused.headers.location).toBe(`${path}/${first.id}`); // who lost the first answer finds it
    await stage.register({ eventName: 'demanda.cancelada', webhookId: 'webhook-2' });
    const other = { body: { ...day, estado: 'falhou' } };
    expect((await request('POST', '/v1/webhooks/demanda.cancelada/reenvios', other)).status).toBe(202);
    await stage.settle();
    const second = (await start()).json;
    expect(second).toMatchObject({ enviadas: 0 });
    expect(await show(first.id)).toEqual({ id: first.id, estado: 'concluido', enviadas: 200 });
  });

  it('starts once when several are requested at the same time, also after an earlier one', async () => {
    await fill(200, 'failed');
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all([start(), start(), start()]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
      expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
      await stage.settle();
    }
  });

  it('stays cancelled if its last page ends meanwhile', async () => {
    await fill(3, 'failed');
    const { json } = await start();
    const replay = await latest();
    stage.justBefore('Update', () => replays().end(replay, 'cancelled'));
    await stage.pass(2 * minute);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado' });
  });

  it('stops at the next page when it is cancelled; what it has restarted is sent', async () => {
    await fill(400, 'failed');
    const { json } = await start();
    const replay = await latest();
    stage.justBefore('Update', () => replays().end(replay, 'cancelled'));
    await stage.pass(minute);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 150 });
    await stage.settle();
    expect(stage.posts).toHaveLength(150);
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
    await stage.settle();
    expect(stage.posts).toHaveLength(20);
    expect((await start()).status).toBe(202);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  it('stays forgotten when a start that read it before continues', async () => {
    const { json } = await start();
    await stage.settle();
    const read = await latest();
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect(await replays().start({ ...read, id: 'reenvio_second' }, read)).toBe(true);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  // Bug: it was refused with 409 `replay_in_progress`, whose `Location` was a 404.
  it('starts though one that has ended is forgotten meanwhile', async () => {
    const { json } = await start();
    await stage.settle();
    const ended = await latest();
    stage.justBefore('Put', () => replays().forget(ended));
    expect((await start()).status).toBe(202);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
  });

  it('starts though the sweeper ends that of an earlier registration meanwhile', async () => {
    await fill(200, 'failed');
    await start();
    const earlier = await latest();
    await stage.register({ webhookId: 'webhook-2' });
    stage.justBefore('Put', () => replays().end(earlier, 'cancelled'));
    expect((await start()).status).toBe(202);
  });

  it('is shown for 30 days, however many follow it, and can be forgotten', async () => {
    await fill(1, 'delivered');
    const ids: string[] = [];
    for (let time = 0; time < 5; time++) {
      ids.push((await start()).json.id);
      await stage.pass(minute);
    }
    for (const id of ids) expect(await show(id)).toEqual({ id, estado: 'concluido', enviadas: 0 });
    const [first = '', second = ''] = ids;
    expect((await request('DELETE', `${path}/${second}`)).status).toBe(204);
    expect(codeOf(await request('GET', `${path}/${second}`))).toBe('404 replay_not_found');
    expect(await show(first)).toMatchObject({ estado: 'concluido' });
    await stage.skip(30 * 24 * hour - 5 * minute);
    expect(await show(first)).toMatchObject({ estado: 'concluido' });
    await stage.pass(2 * minute);
    expect(codeOf(await request('GET', `${path}/${first}`))).toBe('404 replay_not_found');
    expect(await show(ids.at(-1) ?? '')).toMatchObject({ estado: 'concluido' });
  });

  it('is still shown, and can be cancelled, after its webhook is deleted', async () => {
    await fill(150, 'failed');
    const { json } = await start();
    await stage.remove();
    expect(await show(json.id)).toMatchObject({ id: json.id, estado: 'em_andamento' });
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado' });
    expect(codeOf(await request('GET', `${path}/reenvio_${'0'.repeat(22)}`))).toBe('404 webhook_not_found');
  });

  it('can send held deliveries after reactivation', async () => {
    await fill(3, 'held');
    await stage.register({ status: 'suspended', suspensionReason: 'gone' });
    expect(codeOf(await start('held'))).toBe('409 webhook_suspended');
    await stage.register();
    await start('held');
    await stage.settle();
    expect(stage.deliveries()).toMatchObject(Array(3).fill({ state: 'delivered' }));
  });

  it('ends when the webhook is suspended; what is in the queue is held', async () => {
    await fill(250, 'failed');
    const { json } = await start();
    await stage.register({ status: 'suspended', suspensionReason: 'operator' });
    await stage.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 50 });
    const states = stage.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'held')).toHaveLength(49);
    expect(states.filter(state => state === 'failed')).toHaveLength(200);
    expect(stage.posts).toHaveLength(1); // it was due at once
  });

  it('ends when the webhook is registered anew: the new one gets nothing more, and its own replay is not blocked', async () => {
    await fill(250, 'failed');
    const { json } = await start();
    await stage.register({ webhookId: 'webhook-2' });
    const next = (await start()).json;
    expect(next).toMatchObject({ enviadas: 0 });
    await stage.settle();
    expect(stage.posts).toHaveLength(1); // it was due before
    const states = stage.deliveries().map(({ state }) => state);
    expect(states.filter(state => state === 'cancelled')).toHaveLength(49); // what had started a new schedule
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
