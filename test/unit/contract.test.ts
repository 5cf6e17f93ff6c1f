import { describe, expect, it } from 'vitest';
import { type Exchange, judgeDelivery, judgeResponse } from '../support/contract/judge.ts';

const webhook = {
  evento: 'demanda.criada',
  url: 'https://hooks.example.com/',
  autorizacao_definida: false,
  estado: 'ativo',
  motivo_suspensao: null,
  falhando_desde: null,
  lento_desde: null,
  segredos_anteriores: [],
  criado_em: '2026-11-20T13:24:50.601Z',
  atualizado_em: '2026-11-20T13:24:50.601Z',
};
const traced = { 'apigw-requestid': 'AbCdEfGhIjKlMnO=' };
const shown: Exchange = {
  host: 'base',
  method: 'GET',
  path: '/v1/webhooks/demanda.criada',
  status: 200,
  headers: new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store', date: 'today', ...traced }),
  body: JSON.stringify(webhook),
};
const problem = {
  type: 'about:blank',
  title: 'Not Found',
  status: 404,
  detail: '…',
  code: 'webhook_not_found',
  requisicao: 'x',
};
const refused: Exchange = {
  ...shown,
  status: 404,
  headers: new Headers({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'content-language': 'en',
    ...traced,
  }),
  body: JSON.stringify(problem),
};
const withHeader = (exchange: Exchange, name: string, value: string): Exchange => {
  const headers = new Headers(exchange.headers);
  headers.set(name, value);
  return { ...exchange, headers };
};

describe('the judgement of an answer', () => {
  it('has nothing to say of what is described', () => {
    expect(judgeResponse(shown)).toEqual({ met: { operation: 'getWebhook', status: '200', code: '' }, faults: [] });
    expect(judgeResponse(refused).met.code).toBe('webhook_not_found');
    expect(judgeResponse(refused).faults).toEqual([]);
  });

  it.each<[what: string, exchange: Exchange, fault: RegExp]>([
    ['a status', { ...shown, status: 201 }, /status 201/],
    ['a property', { ...shown, body: JSON.stringify({ ...webhook, segredo: 'whsec_' }) }, /additional properties/],
    ['a value', { ...shown, body: JSON.stringify({ ...webhook, estado: 'novo' }) }, /\/estado/],
    ['a header', withHeader(shown, 'x-debug', '1'), /x-debug/],
    ['the value of a header', withHeader(shown, 'cache-control', 'private'), /Cache-Control/],
    [
      'a missing header',
      { ...refused, headers: new Headers({ 'content-type': 'application/problem+json' }) },
      /missing/,
    ],
    ['a content type', withHeader(shown, 'content-type', 'text/html'), /text\/html/],
    [
      'a code of another operation',
      { ...refused, body: JSON.stringify({ ...problem, code: 'delivery_not_found' }) },
      /delivery_not_found/,
    ],
    ['a status of the body', { ...refused, body: JSON.stringify({ ...problem, status: 410 }) }, /status 410/],
    ['content where there is none', { ...shown, method: 'DELETE', status: 204 }, /content/],
    ['another status at an unknown path', { ...refused, path: '/v2', status: 403 }, /status 403/],
  ])('tells of %s that is not', (_what, exchange, fault) => {
    expect(judgeResponse(exchange).faults.join('\n')).toMatch(fault);
  });

  it('tells the cases of one OAuth error apart', () => {
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache', ...traced };
    const body = { error: 'invalid_request', error_description: 'The parameter token is required.' };
    const exchange = { ...shown, host: 'auth', method: 'POST', status: 400, headers: new Headers(headers) } as const;
    const answer = (path: string) => judgeResponse({ ...exchange, path, body: JSON.stringify(body) });
    expect(answer('/oauth/v1/revoke')).toMatchObject({ met: { code: 'token_missing' }, faults: [] });
    expect(answer('/oauth/v1/token').faults.join()).toMatch(/token is required/);
  });
});

describe('the judgement of a delivery', () => {
  const delivery = {
    method: 'POST',
    headers: {
      host: 'hooks.example.com',
      'content-type': 'application/json',
      'user-agent': 'Emissor/1',
      accept: '*/*',
      'accept-encoding': 'identity',
      'webhook-id': `evt_${'a'.repeat(27)}`,
      'webhook-timestamp': '1795181091',
      'webhook-signature': `v1,${'a'.repeat(43)}=`,
    },
    body: '{"event":"demanda.criada","id_demanda":1}',
  };

  it('has nothing to say of what is described', () => {
    expect(judgeDelivery(delivery)).toEqual({ event: 'demanda.criada', faults: [] });
  });

  it.each([
    ['a field', { ...delivery, body: '{"event":"demanda.criada","id_demanda":1,"id_conta":"a"}' }],
    ['an event', { ...delivery, body: '{"event":"demanda.nova"}' }],
    ['a header', { ...delivery, headers: { ...delivery.headers, 'x-account': 'a' } }],
    ['a missing header', { ...delivery, headers: { ...delivery.headers, 'webhook-id': undefined } }],
    ['an Accept', { ...delivery, headers: { ...delivery.headers, accept: 'application/json' } }],
  ])('tells of %s that is not', (_what, arrived) => {
    expect(judgeDelivery(arrived).faults).toHaveLength(1);
  });
});
