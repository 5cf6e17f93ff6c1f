import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { sampleBody } from '../../../../lambdas/delivery/intake/event.ts';
import { deliveryDetail, deliveryRecord } from '../../../../lambdas/delivery/representation.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import type { StageRequest, StageResponse } from '../../../support/stage.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { aResponse, secret } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
});

const day = 24 * 60 * 60_000;
const base = '/v1/webhooks/demanda.criada';
const eventId = `evt_${'0'.repeat(27)}`;

const request = async (method: string, path: string, sent: StageRequest = {}): Promise<StageResponse> => {
  const response = await stage.request(method, path, sent);
  expect(response.headers['cache-control']).toBe('no-store');
  return response;
};
const codeOf = ({ status, json }: StageResponse) => `${status} ${json?.code}`;
const findingsOf = ({ json }: StageResponse) =>
  json.errors.map(({ parameter, code }: { parameter: string; code: string }) => `${parameter} ${code}`);

const publishAndSettle = async (count: number, status: number) => {
  for (let number = 0; number < count; number++) {
    stage.answers.push(aResponse(status));
    stage.publishEvent();
    await stage.pass(1_000);
  }
};
const list = async (query = '') => (await request('GET', `${base}/entregas`, { query })).json;
const listAll = async (query: string) => {
  const all: { criado_em: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list(`${query}&cursor=${cursor}`);
    expect(page.entregas.length).toBeGreaterThan(0);
    all.push(...page.entregas);
    cursor = page.proximo_cursor;
  }
  return all;
};
const oneId = async (): Promise<string> => (await list()).entregas[0].id;

describe('GET …/entregas', () => {
  beforeEach(() => stage.register());

  it('lists deliveries newest first, with state, times and number of attempts', async () => {
    stage.answers.push(aResponse(200), aResponse(500), aResponse(410));
    for (const id of ['a', 'b', 'c']) {
      stage.publishEvent({ id });
      await stage.pass(1_000);
    }
    const { entregas, proximo_cursor } = await list();
    expect(proximo_cursor).toBeNull();
    const names = ['estado', 'criado_em', 'proxima_tentativa_em', 'tentativas', 'ultimo_resultado', 'ultimo_status'];
    expect(entregas.map((entrega: Record<string, unknown>) => names.map(name => entrega[name]))).toEqual([
      ['retida', '2026-11-20T12:00:02.000Z', null, 1, 'http', 410],
      ['pendente', '2026-11-20T12:00:01.000Z', '2026-11-20T12:00:05.500Z', 1, 'http', 500],
      ['entregue', '2026-11-20T12:00:00.000Z', null, 1, 'entregue', 200],
    ]);
    for (const entrega of entregas) expect(() => z.strictObject(deliveryRecord.shape).parse(entrega)).not.toThrow();
  });

  it.each([
    ['only the latest ones are stored', Array.from({ length: 40 }, () => aResponse(500))],
    ['consecutive internal errors share one record', Array(3).fill({ ...aResponse(0), outcome: 'internal_error' })],
  ])('counts all attempts if %s', async (_, answers) => {
    stage = makeStage(Array(39).fill(1_000));
    await stage.register();
    stage.answers.push(...answers);
    stage.publishEvent();
    await stage.settle();
    expect(stage.only().attempts.length).toBeLessThan(stage.posts.length);
    expect((await list()).entregas).toMatchObject([{ tentativas: stage.posts.length }]);
  });

  it('pages by cursor until the end of the list', async () => {
    await publishAndSettle(20, 200);
    const { entregas } = await list('limite=100');
    for (const limite of [1, 3, 10, 19]) expect(await listAll(`limite=${limite}`)).toEqual(entregas);
    expect((await list()).entregas).toHaveLength(20);
    expect((await list()).proximo_cursor).toBeNull(); // the last page is exactly full
    await publishAndSettle(1, 200);
    expect((await list()).entregas).toHaveLength(20);
  });

  it('filters by state and ignores empty parameters', async () => {
    await publishAndSettle(3, 200);
    await publishAndSettle(1, 410);
    expect((await list('estado=retida')).entregas).toHaveLength(1);
    expect((await list('estado=falhou')).entregas).toEqual([]);
    expect((await list('estado=&limite=&cursor=')).entregas).toHaveLength(4);
  });

  const cursorOf = (position: string | Buffer) => Buffer.from(position).toString('base64url');
  const cursor = cursorOf(`2026-11-20T12:00:00.000Z#${eventId}`);
  it.each<[string, string[]]>([
    ['estado=ENTREGUE', ['estado invalid_value']],
    ...['0', '101', '-1', '1.5', '1e1', 'vinte', '99999999999999999999'].map((wrong): [string, string[]] => [
      `limite=${wrong}`,
      ['limite invalid_value'],
    ]),
    ...[
      'x',
      '%FF',
      `${cursor}=`,
      `${cursor}%20`,
      ` ${cursor}`,
      cursor.slice(0, -1),
      cursorOf('2026-11-20T12:00:00.000Z#replays#conta-1#demanda.criada'),
      cursorOf('x#evt_000000000000000000000000000'),
      cursorOf(Buffer.from([0xff, 0xfe])), // bytes that are not valid UTF-8
      cursorOf(`2026-11-20T12:00:00.000Z#${eventId}\n`),
    ].map((wrong): [string, string[]] => [`cursor=${wrong}`, ['cursor invalid_value']]),
    ['limit=5', ['limit unknown_field']],
    ['a/b~c=5', ['a/b~c unknown_field']],
    ['pagina=', ['pagina unknown_field']],
    ['limite=5&limite=6', ['limite repeated']],
    ['estado=&estado=falhou', ['estado repeated']],
    ['x=1&x=2', ['x repeated', 'x unknown_field']],
    ['__proto__=1', ['__proto__ unknown_field']],
    ['desde=ontem', ['desde invalid_value']],
    ['ate=2026-11-20T12:00:00+03:00', ['ate invalid_value']], // an unescaped + means a space
    ['desde=2026-11-20T12:00:00Z&ate=2026-11-20T12:00:00Z', ['ate invalid_value']],
    ['desde=2026-11-20T12:00:00Z&ate=2026-11-20T08:59:59-03:00', ['ate invalid_value']],
    ['desde=2026-11-20T12:00:00Z&ate=2026-11-20T12:00:00Z&limite=0', ['ate invalid_value', 'limite invalid_value']],
    [
      'estado=x&limite=0&cursor=x&pagina=2',
      ['cursor invalid_value', 'estado invalid_value', 'limite invalid_value', 'pagina unknown_field'],
    ],
  ])('rejects %s with every finding', async (query, findings) => {
    const rejected = await request('GET', `${base}/entregas`, { query });
    expect(codeOf(rejected)).toBe('422 validation_failed');
    expect(findingsOf(rejected).toSorted()).toEqual(findings);
    expect(codeOf(await request('GET', '/v1/webhooks/demanda.x/entregas', { query }))).toBe('422 validation_failed');
  });

  it.each([
    ['whsec_abc&whsec_abc', ['repeated', 'unknown_field']],
    ['whsec_abc=1', ['unknown_field']],
    ['__proto__=1&__proto__=2', ['repeated', 'unknown_field']],
    ['whsec_abc=&whsec_abc=x&limite=5&limite=6', ['limite repeated', 'repeated', 'unknown_field']],
  ])('does not log unknown parameter names: %s', async (query, findings) => {
    await request('GET', `${base}/entregas`, { query });
    const [message, fields] = JSON.parse(stage.lines.at(-1) ?? '[]');
    expect(message).toBe('api.refused');
    expect(fields.findings.toSorted()).toEqual(findings);
    expect(stage.lines.join()).not.toMatch(/whsec_abc|__proto__/);
  });

  it('filters by time from desde (inclusive) to ate (exclusive)', async () => {
    await publishAndSettle(5, 200); // one per second, starting at noon
    const seconds = async (query: string) =>
      (await list(query)).entregas.map(({ criado_em }: { criado_em: string }) => new Date(criado_em).getUTCSeconds());
    expect(await seconds('desde=2026-11-20T12:00:01Z&ate=2026-11-20T12:00:03Z')).toEqual([2, 1]);
    expect(await seconds('desde=2026-11-20T12:00:03.000Z')).toEqual([4, 3]);
    expect(await seconds('desde=2026-11-20T12:00:03.0000001Z')).toEqual([4]);
    expect(await seconds('ate=2026-11-20T12:00:01Z')).toEqual([0]);
    expect(await seconds('ate=2026-11-20T12:00:01.0000001Z')).toEqual([1, 0]);
    expect(await seconds('ate=2026-11-20T15:00:02%2B03:00')).toEqual([1, 0]);
    const paged = await listAll('desde=2026-11-20T12:00:01Z&ate=2026-11-20T12:00:04Z&limite=2');
    expect(paged.map(({ criado_em }) => criado_em.slice(18, 19))).toEqual(['3', '2', '1']);
    expect(await seconds('desde=0000-01-01T00:00:00%2B23:59&ate=9999-12-31T23:59:59-23:59')).toEqual([4, 3, 2, 1, 0]);
  });

  it.each([
    ['deleted', () => stage.remove()],
    ['registered again', () => stage.register({ webhookId: 'webhook-2' })],
  ])('shows and filters waiting deliveries as cancelada after the webhook is %s', async (_, change) => {
    for (const status of [200, 500, 410]) await publishAndSettle(1, status); // the second one waits for another attempt
    await change();
    const all = (await list()).entregas;
    expect(all.map(({ estado }: { estado: string }) => estado)).toEqual(['retida', 'cancelada', 'entregue']);
    const shown = { estado: 'cancelada', proxima_tentativa_em: null };
    expect(all[1]).toMatchObject({ ...shown, tentativas: 1 });
    expect((await list('estado=pendente')).entregas).toEqual([]);
    expect((await list('estado=cancelada')).entregas).toEqual([all[1]]);
    const { json } = await request('GET', `${base}/entregas/${all[1].id}`);
    expect(json).toMatchObject({ ...shown, tentativas: [{ status: 500 }] });
    await stage.settle();
    expect((await list()).entregas).toEqual(all);
    expect((await list('estado=cancelada')).entregas).toEqual([all[1]]); // its stored state is now cancelled
  });

  it('accepts the cursor of a delivery that is outside the range, unknown or expired', async () => {
    expect((await list(`cursor=${cursor}`)).entregas).toEqual([]);
    await publishAndSettle(3, 200);
    const { proximo_cursor } = await list('limite=2');
    const beyond = await list(`desde=2026-11-20T12:00:02Z&cursor=${proximo_cursor}`);
    expect(beyond).toEqual({ entregas: [], proximo_cursor: null });
    await stage.skip(31 * day);
    expect((await list(`cursor=${proximo_cursor}`)).entregas).toEqual([]);
  });

  it('rejects the cursor of another event, but not the cursor of another account', async () => {
    await publishAndSettle(2, 200);
    const query = `cursor=${(await list('limite=1')).proximo_cursor}`;
    const other = { eventName: 'demanda.cancelada', webhookId: 'webhook-2' } as const;
    await stage.register(other);
    await stage.register({ ...other, accountId: 'conta-2' });
    const listAs = (token?: string) =>
      request('GET', '/v1/webhooks/demanda.cancelada/entregas', { query, ...(token !== undefined && { token }) });
    expect(findingsOf(await listAs())).toEqual(['cursor invalid_value']);
    expect((await listAs('admin|webhooks:read|conta-2')).json.entregas).toEqual([]);
  });
});

describe('GET …/entregas/{id}', () => {
  beforeEach(() => stage.register());

  it('shows the signed body and every attempt', async () => {
    const reset = { outcome: 'connection', cause: 'reset', errorCode: 'ECONNRESET', durationMs: 0 } as const;
    stage.answers.push({ ...aResponse(500, {}, 'oops'), takesMs: 1_500 }, reset, aResponse(200, {}, 'ok'));
    stage.publishEvent();
    await stage.settle();
    const { json } = await request('GET', `${base}/entregas/${await oneId()}`);
    expect(() => z.strictObject(deliveryDetail.shape).parse(json)).not.toThrow();
    expect(json).toMatchObject({ corpo: '{"event":"demanda.criada","id_demanda":7}', estado: 'entregue' });
    const names = ['numero', 'iniciada_em', 'duracao_ms', 'resultado', 'detalhe', 'status', 'resposta'];
    expect(json.tentativas.map((tentativa: Record<string, unknown>) => names.map(name => tentativa[name]))).toEqual([
      [1, '2026-11-20T12:00:00.000Z', 1500, 'http', null, 500, 'oops'],
      [2, '2026-11-20T12:00:06.500Z', 0, 'conexao', 'reiniciada', null, null],
      [3, '2026-11-20T12:04:36.500Z', 0, 'entregue', null, 200, 'ok'],
    ]);
    expect(JSON.stringify(json)).not.toContain(secret);
  });

  const otherItems = ['replays#conta-1#demanda.criada', 'testes#conta-1#demanda.criada'];
  it.each([eventId, `teste_${'0'.repeat(22)}`, 'x', 'x'.repeat(5_000), ...otherItems, '%00', '..'])(
    'returns 404 for %s',
    async id => {
      expect(codeOf(await request('GET', `${base}/entregas/${id}`))).toBe('404 delivery_not_found');
      expect(codeOf(await request('POST', `${base}/entregas/${id}/reenvio`))).toBe('404 delivery_not_found');
    },
  );

  it('never shows or resends a delivery of another account or event', async () => {
    stage.publishEvent();
    await stage.settle();
    const id = await oneId();
    await stage.register({ accountId: 'conta-2', webhookId: 'webhook-2' });
    await stage.register({ eventName: 'demanda.cancelada', webhookId: 'webhook-3' });
    const sent = { token: 'admin|webhooks:read webhooks:manage|conta-2' };
    expect((await request('GET', `${base}/entregas`, sent)).json.entregas).toEqual([]);
    const others = [
      [base, sent],
      ['/v1/webhooks/demanda.cancelada', {}],
    ] as const;
    for (const [webhook, by] of others) {
      expect(codeOf(await request('GET', `${webhook}/entregas/${id}`, by))).toBe('404 delivery_not_found');
      expect(codeOf(await request('POST', `${webhook}/entregas/${id}/reenvio`, by))).toBe('404 delivery_not_found');
    }
    await stage.settle();
    expect(stage.posts).toHaveLength(1);
  });

  it('returns 404 from 30 days after the final state, and then the list of a deleted webhook also returns 404', async () => {
    stage.publishEvent();
    await stage.settle();
    const id = await oneId();
    await stage.skip(30 * day + 1_000);
    expect(codeOf(await request('GET', `${base}/entregas/${id}`))).toBe('404 delivery_not_found');
    expect((await list()).entregas).toEqual([]);
    await stage.remove();
    expect(codeOf(await request('GET', `${base}/entregas`))).toBe('404 webhook_not_found');
  });

  it('finds a history without a webhook behind many expired deliveries', async () => {
    await publishAndSettle(41, 200); // more than one page reads
    const { id } = (await list('limite=100')).entregas.at(-1);
    await stage.skip(20 * day);
    await request('POST', `${base}/entregas/${id}/reenvio`);
    await stage.settle();
    await stage.skip(10 * day + 3_600_000);
    await stage.remove();
    expect(await list('limite=1')).toEqual({ entregas: [], proximo_cursor: expect.any(String) });
    expect((await list('limite=100')).entregas).toMatchObject([{ id }]);
    expect(codeOf(await request('GET', `${base}/entregas/${eventId}`))).toBe('404 delivery_not_found');
  });
});

describe('POST …/entregas/{id}/reenvio', () => {
  beforeEach(() => stage.register());

  it('allows 60 requests per minute and webhook, for all deliveries together', async () => {
    await publishAndSettle(2, 200);
    const ids = (await list()).entregas.map(({ id }: { id: string }) => id);
    const all = await Promise.all(
      Array.from({ length: 61 }, (_, at) => request('POST', `${base}/entregas/${ids[at % 2]}/reenvio`)),
    );
    const [rejected, ...more] = all.filter(({ status }) => status !== 202);
    expect([rejected && codeOf(rejected), rejected?.headers['retry-after'], more]).toEqual([
      '429 rate_limited',
      '60',
      [],
    ]);
    const others = { 'conta-1': 'demanda.cancelada', 'conta-2': 'demanda.criada' } as const;
    for (const [accountId, eventName] of Object.entries(others)) {
      await stage.register({ accountId, eventName, webhookId: `webhook-${eventName}` });
      stage.publishEvent({ id_conta: accountId, event: eventName });
      await stage.pass(1);
      const [path, token] = [`/v1/webhooks/${eventName}/entregas`, `admin|webhooks:manage|${accountId}`];
      const [{ id }] = (await request('GET', path, { token })).json.entregas;
      expect((await request('POST', `${path}/${id}/reenvio`, { token })).status).toBe(202);
    }
  });

  it('does not count a request that is rejected for another reason', async () => {
    await publishAndSettle(1, 410);
    const id = await oneId();
    for (let time = 0; time < 61; time++) await request('POST', `${base}/entregas/${id}/reenvio`);
    await stage.register();
    expect((await request('POST', `${base}/entregas/${id}/reenvio`)).status).toBe(202);
  });
});

describe('POST …/teste', () => {
  beforeEach(() => stage.register());
  const test = (sent: StageRequest = {}) => request('POST', `${base}/teste`, sent);

  it.each(EVENT_NAMES)('sends a sample of %s and shows its outcome', async evento => {
    const body = sampleBody(evento, 'https://demandas.example.com');
    await stage.register({ eventName: evento, encryptedAuthorization: undefined });
    stage.answers.push(aResponse(200, {}, 'thanks'));
    const { status, json } = await request('POST', `/v1/webhooks/${evento}/teste`);
    expect(status).toBe(202);
    expect(json).toEqual({ id: expect.stringMatching(/^teste_[A-Za-z0-9]{22}$/) });
    const path = `/v1/webhooks/${evento}/entregas`;
    expect((await request('GET', path)).json.entregas).toMatchObject([{ id: json.id, estado: 'pendente' }]);
    await stage.settle();
    expect(stage.posts).toMatchObject([{ id: json.id, body }]);
    expect((await request('GET', `${path}/${json.id}`)).json).toMatchObject({
      estado: 'entregue',
      corpo: body,
      tentativas: [{ numero: 1, resultado: 'entregue', status: 200, resposta: 'thanks' }],
    });
  });

  it.each([
    ['500', aResponse(500), 'http', 1],
    ['429 with Retry-After', aResponse(429, { 'retry-after': '5' }), 'http', 1],
    ['410', aResponse(410), 'http', 1],
    ['a timeout', { outcome: 'timeout', cause: null, errorCode: '', durationMs: 1 }, 'tempo_esgotado', 1],
    ['a blocked address', { outcome: 'blocked', cause: null, errorCode: '', durationMs: 1 }, 'bloqueada', 0],
    ['an internal error', { outcome: 'internal_error', cause: null, errorCode: '', durationMs: 1 }, 'interno', 1],
  ] as const)(
    'makes only one attempt, which does not affect the webhook’s health: %s',
    async (_case, postOutcome, resultado, posts) => {
      stage.answers.push(postOutcome);
      const { json } = await test();
      const before = await stage.webhook();
      await stage.settle();
      expect(stage.posts.map(({ lane }) => lane)).toEqual(Array(posts).fill('slow'));
      const shown = (await request('GET', `${base}/entregas/${json.id}`)).json;
      expect(shown).toMatchObject({ estado: 'falhou', tentativas: [{ resultado }] });
      expect(await stage.webhook()).toEqual(before);
      expect(stage.announced()).toEqual([]);
    },
  );

  it('does not end the failures or the slowness of a webhook', async () => {
    await stage.register({ failingSince: 1 });
    const slowness = await stage.slowDown();
    await test();
    await stage.pass(60_000); // after this time, a quick success of an event ends the slowness
    await stage.settle();
    expect(stage.posts).toMatchObject([{ lane: 'slow', status: 200 }]);
    expect(await stage.webhook()).toMatchObject({ failingSince: 1 });
    expect(await stage.slowness()).toEqual(slowness);
  });

  it('rejects a test while the webhook is suspended by an operator, and does not count the request', async () => {
    await stage.register({ status: 'suspended', suspensionReason: 'operator' });
    for (let time = 0; time < 11; time++) expect(codeOf(await test())).toBe('409 suspended_by_operator');
    await stage.settle();
    expect(stage.posts).toEqual([]);
    await stage.register();
    expect((await test()).status).toBe(202);
  });

  it.each([
    ['an operator suspends the webhook', () => stage.register({ status: 'suspended', suspensionReason: 'operator' })],
    ['the webhook is deleted', () => stage.remove()],
  ])('cancels a waiting test if %s', async (_, change) => {
    await test();
    await change();
    await stage.settle();
    expect(stage.posts).toEqual([]);
    expect((await list()).entregas).toMatchObject([{ estado: 'cancelada', tentativas: 0 }]);
  });

  it.each(['gone', 'no_success'] as const)('sends a test while suspended for %s', async suspensionReason => {
    await stage.register({ status: 'suspended', suspensionReason });
    const { json } = await test();
    await stage.settle();
    expect(stage.posts).toHaveLength(1);
    expect((await request('GET', `${base}/entregas/${json.id}`)).json.estado).toBe('entregue');
    expect(await stage.webhook()).toMatchObject({ status: 'suspended', suspensionReason });
  });

  it('allows 10 tests per minute and account, even after a new registration', async () => {
    await stage.register({ eventName: 'demanda.cancelada', webhookId: 'webhook-9' });
    await stage.register({ accountId: 'conta-2', webhookId: 'webhook-10' });
    const other = () => request('POST', '/v1/webhooks/demanda.cancelada/teste');
    for (let number = 0; number < 5; number++) {
      for (const { status } of [await test(), await other()]) expect(status).toBe(202);
      await stage.pass(2_000);
    }
    await stage.remove();
    await stage.register({ webhookId: 'webhook-2' });
    for (const rejected of [await test(), await other()]) {
      expect([codeOf(rejected), rejected.headers['retry-after']]).toEqual(['429 rate_limited', '50']);
    }
    expect((await test({ token: 'admin|webhooks:manage|conta-2' })).status).toBe(202);
  });
});
