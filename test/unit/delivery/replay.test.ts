import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../lambdas/delivery/delivery.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { aDelivery, answer } from './builders.ts';
import { type Answered, type Sent, simulate } from './simulation.ts';

let dynalite: Dynalite;
let world: Awaited<ReturnType<typeof simulate>>;
beforeAll(async () => {
  dynalite = await startDynalite('Deliveries', 'Webhooks');
});
afterAll(() => dynalite.stop());
beforeEach(async () => {
  world = await simulate(dynalite);
  await world.register();
});

const path = '/v1/webhooks/demanda.criada/reenvios';
const hour = 3_600_000;
const iso = (moment: number) => new Date(moment).toISOString();

const request = async (method: string, at: string, sent: Sent = {}): Promise<Answered> => {
  const answered = await world.request(method, at, sent);
  if (!answered) throw new Error('no answer');
  return answered;
};
const codeOf = ({ status, json }: Answered) => `${status} ${json?.code}`;

/** Stores ended deliveries, one accepted each second from noon, and gives them oldest first. */
const fill = async (count: number, state: Exclude<DeliveryState, 'pendente'>, changes: Partial<Delivery> = {}) => {
  const noon = world.clock.now();
  const made = Array.from({ length: count }, (_, number) => {
    const id = `evt_${state.slice(0, 4)}${String(number).padStart(23, '0')}`;
    const createdAt = noon + number * 1_000;
    return settled(aDelivery({ id, createdAt, scheduledAt: createdAt, attempt: 5, ...changes }), state, createdAt + 1);
  });
  await Promise.all(made.map(delivery => world.store.create(delivery)));
  world.clock.advance(count * 1_000 + 1);
  return made;
};

const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T23:00:00Z' };
const start = (estado: 'falhou' | 'retida' = 'falhou', changes: object = {}) =>
  request('POST', path, { body: { ...day, estado, ...changes } });
const show = async (id: string) => (await request('GET', `${path}/${id}`)).json;

describe('a replay', () => {
  it('sends what failed in the range again, newest first, and shows how far it has come', async () => {
    await fill(3, 'falhou');
    await fill(2, 'retida');
    await fill(2, 'entregue');
    const { status, headers, json } = await start();
    expect([status, headers.location]).toEqual([202, `${path}/${json.id}`]);
    expect(json).toEqual({ id: expect.stringMatching(/^reenvio_/), estado: 'concluido', total: 3, enviadas: 3 });
    await world.settle();
    expect(world.posts.map(({ id }) => Number(id.slice(-1)))).toEqual([2, 1, 0]);
    expect(await show(json.id)).toEqual({ id: json.id, estado: 'concluido', total: 3, enviadas: 3 });
    const states = (await world.all()).map(({ state }) => state);
    expect(states.toSorted()).toEqual([...Array(5).fill('entregue'), 'retida', 'retida']);
    expect(world.counts).toMatchObject({ Replayed: 3 });
  });

  it('keeps both ends of the range, and to what was in its state when it began', async () => {
    const [, second, third] = await fill(4, 'falhou');
    const { json } = await start('falhou', { desde: iso(second?.createdAt ?? 0), ate: iso(third?.createdAt ?? 0) });
    expect(json).toMatchObject({ total: 2, enviadas: 2 });
    world.answers.push(...Array.from({ length: 8 }, () => answer(500)));
    await world.settle();
    expect((await world.all()).filter(({ state }) => state === 'falhou')).toHaveLength(4);
    expect(await show(json.id)).toMatchObject({ total: 2, enviadas: 2 });
  });

  it('sends ten a second: what is due soon at once, then a minute’s worth with each sweep', async () => {
    await fill(1_500, 'retida');
    world.clock.advance(hour);
    const begun = world.clock.now();
    const { json } = await start('retida');
    expect(json).toMatchObject({ estado: 'em_andamento', total: 1_500, enviadas: 100 });
    while ((await show(json.id)).estado === 'em_andamento') {
      world.clock.advance(60_000);
      await world.sweep();
    }
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', total: 1_500, enviadas: 1_500 });
    const dues = (await world.all()).map(({ wait }) => (wait?.nextAttemptAt ?? 0) - begun).toSorted((a, b) => a - b);
    expect(dues[0]).toBe(0);
    for (const [at, due] of dues.entries())
      expect(due - (dues[at - 10] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(1_000);
    expect(dues.at(-1)).toBeLessThan(1_500 * 100 + 4 * 60_000);
  }, 60_000);

  it('of a rare state in a long history ends too', async () => {
    await fill(700, 'entregue');
    await fill(1, 'falhou');
    const { json } = await start();
    await world.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'concluido', total: 1, enviadas: 1 });
  }, 30_000);

  it('of nothing is over at once', async () => {
    await fill(2, 'entregue');
    expect((await start()).json).toMatchObject({ estado: 'concluido', total: 0, enviadas: 0 });
  });

  it('leaves tests alone', async () => {
    world.answers.push(answer(500));
    await request('POST', '/v1/webhooks/demanda.criada/teste');
    await world.settle();
    world.clock.advance(1);
    expect((await start()).json).toMatchObject({ total: 0 });
  });

  it('is one at a time for each webhook; those that were are still shown', async () => {
    await fill(200, 'falhou');
    const first = (await start()).json;
    expect(first.estado).toBe('em_andamento');
    expect(codeOf(await start())).toBe('409 replay_in_progress');
    await world.register({ evento: 'demanda.cancelada', webhookId: 'webhook-2' });
    const other = { body: { ...day, estado: 'falhou' } };
    expect((await request('POST', '/v1/webhooks/demanda.cancelada/reenvios', other)).status).toBe(202);
    await world.settle();
    const second = (await start()).json;
    expect(second).toMatchObject({ total: 0 });
    expect(await show(first.id)).toEqual({ id: first.id, estado: 'concluido', total: 200, enviadas: 200 });
    expect(await show(second.id)).toMatchObject({ estado: 'concluido' });
  });

  it('of several that are asked for at once begins one', async () => {
    await fill(200, 'falhou');
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
  });

  it('can be cancelled: nothing more leaves, and another can begin', async () => {
    await fill(250, 'falhou');
    const { json } = await start();
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    expect((await request('DELETE', `${path}/${json.id}`)).status).toBe(204);
    await world.settle();
    expect(world.posts).toHaveLength(100);
    expect(await show(json.id)).toEqual({ id: json.id, estado: 'cancelado', total: 250, enviadas: 100 });
    expect((await start()).json).toMatchObject({ total: 150 });
  });

  it('of what was held is possible after reactivation', async () => {
    await fill(3, 'retida');
    await world.register({ status: 'suspenso', suspensionReason: 'gone' });
    expect(codeOf(await start('retida'))).toBe('409 webhook_suspended');
    await world.register();
    await start('retida');
    await world.settle();
    expect(await world.all()).toMatchObject(Array(3).fill({ state: 'entregue' }));
  });

  it('ends when the webhook is suspended meanwhile; what had left is held again, nothing is sent', async () => {
    await fill(250, 'falhou');
    const { json } = await start();
    await world.register({ status: 'suspenso', suspensionReason: 'operador' });
    await world.settle();
    expect(await show(json.id)).toMatchObject({ estado: 'cancelado', enviadas: 100 });
    const states = (await world.all()).map(({ state }) => state);
    expect(states.filter(state => state === 'retida')).toHaveLength(100);
    expect(states.filter(state => state === 'falhou')).toHaveLength(150);
    expect(world.posts).toEqual([]);
  });

  it('ends when the webhook is another one: nothing is sent to that, and its own replay is not held up', async () => {
    await fill(250, 'falhou');
    const { json } = await start();
    await world.register({ webhookId: 'webhook-2' });
    const next = (await start()).json;
    expect(next).toMatchObject({ enviadas: 0 });
    await world.settle();
    expect(world.posts).toEqual([]);
    expect((await world.all()).every(({ state }) => state === 'cancelada')).toBe(true);
    expect((await show(json.id)).estado).toBe('cancelado');
  });

  it('goes on by the sweeper when its beginning fails', async () => {
    await fill(3, 'falhou');
    // webhook, latest replay, begin: then the process dies
    await world.request('POST', path, { body: { ...day, estado: 'falhou' } }, { afterCalls: 3, hasEffect: false });
    expect((await world.all()).every(({ state }) => state === 'falhou')).toBe(true);
    await world.settle();
    expect(world.posts).toHaveLength(3);
  });

  it('is gone with the history', async () => {
    await fill(1, 'falhou');
    const { json } = await start();
    world.clock.advance(31 * 24 * hour);
    expect(codeOf(await request('GET', `${path}/${json.id}`))).toBe('404 replay_not_found');
    expect((await start()).status).toBe(202);
  });
});

describe('a request for a replay', () => {
  it.each([
    [{}, ['/ate required', '/desde required', '/estado required']],
    [{ ...day, estado: 'entregue' }, ['/estado invalid_value']],
    [{ ...day, estado: 'pendente' }, ['/estado invalid_value']],
    [{ ...day, estado: 1 }, ['/estado wrong_type']],
    [{ ...day, estado: 'falhou', desde: '2026-11-20' }, ['/desde invalid_value']],
    [{ ...day, estado: 'falhou', desde: '2026-11-20T00:00:00' }, ['/desde invalid_value']],
    [{ ...day, estado: 'falhou', ate: '2026-02-30T00:00:00Z' }, ['/ate invalid_value']],
    [{ ...day, estado: 'falhou', ate: 1_795_000_000 }, ['/ate wrong_type']],
    [{ ...day, estado: 'falhou', ate: '2026-11-19T23:59:59Z' }, ['/ate invalid_value']],
    [{ ...day, estado: 'falhou', evento: 'demanda.criada' }, ['/evento unknown_field']],
    [[], [' wrong_type']],
  ])('%j is refused with every finding', async (body, findings) => {
    const refused = await request('POST', path, { body });
    expect(codeOf(refused)).toBe('422 validation_failed');
    const found = refused.json.errors.map(
      ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`,
    );
    expect(found.toSorted()).toEqual(findings);
  });

  it('is read as strictly as any body, in the same order', async () => {
    const type = { 'content-type': 'text/plain' };
    const big = 'x'.repeat(20_000);
    expect(codeOf(await request('POST', path, { raw: big, headers: type }))).toBe('415 unsupported_media_type');
    expect(codeOf(await request('POST', path))).toBe('415 unsupported_media_type');
    expect(codeOf(await request('POST', path, { raw: big }))).toBe('413 payload_too_large');
    expect(codeOf(await request('POST', path, { raw: '{' }))).toBe('400 invalid_json');
    await world.remove();
    expect(codeOf(await request('POST', path, { body: {} }))).toBe('422 validation_failed');
    expect(codeOf(await start())).toBe('404 webhook_not_found');
  });

  it('takes offsets, and an end that is still to come', async () => {
    await fill(1, 'falhou');
    const late = { desde: '2026-11-20T09:00:00-03:00', ate: '9999-12-31T23:59:59-12:00' };
    expect((await start('falhou', late)).json).toMatchObject({ total: 1 });
  });
});

describe('a replay that is not there', () => {
  it.each(['reenvio_x', 'x', '%00', 'x'.repeat(3_000), '__proto__'])('%s', async id => {
    for (const method of ['GET', 'DELETE']) {
      expect(codeOf(await request(method, `${path}/${id}`))).toBe('404 replay_not_found');
    }
  });
});
