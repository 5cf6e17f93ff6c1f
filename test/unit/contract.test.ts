import { describe, expect, it } from 'vitest';
import { webhook } from '../../tools/openapi/examples.ts';
import { deliveryFaults, type Exchange, responseFaults } from '../support/contract/check.ts';

// Other tests use these checks to compare responses and deliveries with the OpenAPI documents.

const headersOf = (more: Record<string, string>) =>
  new Headers({ 'cache-control': 'no-store', 'apigw-requestid': 'AbCdEfGhIjKlMnO=', date: 'today', ...more });

/** Returns a response to a request for a webhook, with additional headers and another body. */
const response = (headers: Record<string, string> = {}, body: object = webhook): Exchange => ({
  host: 'base',
  method: 'GET',
  path: '/v1/webhooks/demanda.criada',
  status: 200,
  headers: headersOf({ 'content-type': 'application/json', ...headers }),
  body: JSON.stringify(body),
});

const rejection = (changes: object = {}): Exchange => {
  const problem = { type: 'about:blank', title: 'Not Found', status: 404, detail: '…', requisicao: 'x' };
  const headers = { 'content-type': 'application/problem+json', 'content-language': 'en' };
  return { ...response(headers, { ...problem, code: 'webhook_not_found', ...changes }), status: 404 };
};

describe('the check of a response', () => {
  it('reports no fault in a documented response', () => {
    expect([...responseFaults(response()), ...responseFaults(rejection())]).toEqual([]);
  });

  it.each<[what: string, exchange: Exchange, fault: RegExp]>([
    ['an undocumented status', { ...response(), status: 201 }, /status 201/],
    ['an undocumented property', response({}, { ...webhook, segredo: 'whsec_' }), /additional properties/],
    ['an undocumented value', response({}, { ...webhook, estado: 'novo' }), /\/estado/],
    ['an undocumented header', response({ 'x-debug': '1' }), /x-debug/],
    ['an undocumented header value', response({ 'cache-control': 'private' }), /Cache-Control/],
    ['a missing header', { ...response(), headers: new Headers({ 'content-type': 'application/json' }) }, /missing/],
    ['an undocumented content type', response({ 'content-type': 'text/html' }), /text\/html/],
    ['a code from another operation', rejection({ code: 'delivery_not_found' }), /delivery_not_found/],
    ['a different status in the body', rejection({ status: 410 }), /status 410/],
    ['content in an empty response', { ...response(), method: 'DELETE', status: 204 }, /content/],
    ['an undocumented status at an unknown path', { ...rejection(), path: '/v2', status: 403 }, /status 403/],
  ])('reports %s', (_what, exchange, fault) => {
    expect(responseFaults(exchange).join('\n')).toMatch(fault);
  });

  it('distinguishes the cases of one OAuth error', () => {
    const body = { error: 'invalid_request', error_description: 'The parameter token is required.' };
    const exchange = { ...response({ pragma: 'no-cache' }, body), host: 'auth', method: 'POST', status: 400 } as const;
    expect(responseFaults({ ...exchange, path: '/oauth/v1/revoke' })).toEqual([]);
    expect(responseFaults({ ...exchange, path: '/oauth/v1/token' }).join()).toMatch(/token is required/);
  });
});

describe('the check of a delivery', () => {
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

  it('reports no fault in a documented delivery', () => {
    expect(deliveryFaults(delivery)).toEqual([]);
  });

  it.each([
    ['an undocumented field', { body: '{"event":"demanda.criada","id_demanda":1,"id_conta":"a"}' }, {}],
    ['an undocumented event', { body: '{"event":"demanda.nova"}' }, {}],
    ['an undocumented header', {}, { 'x-account': 'a' }],
    ['a missing header', {}, { 'webhook-id': undefined }],
    ['an undocumented Accept header', {}, { accept: 'application/json' }],
  ])('reports %s', (_what, changes, headers) => {
    const received = { ...delivery, headers: { ...delivery.headers, ...headers }, ...changes };
    expect(deliveryFaults(received)).toHaveLength(1);
  });
});
