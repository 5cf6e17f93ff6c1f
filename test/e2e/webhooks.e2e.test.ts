import { beforeAll, expect, it } from 'vitest';
import { mapHost } from '../support/e2e-receiver.ts';
import { callApi, createClient, openSession, type Session } from '../support/e2e-service.ts';
import { describeWith } from '../support/e2e-target.ts';

let admin: Session;
const url = 'https://93.184.215.14/hook?of=acme';

beforeAll(async () => {
  admin = await openSession(await createClient());
});

// test/support/contract checks each response against the OpenAPI document. lab/world checks what the API stores.
it('the API registers, returns, replaces and deletes a webhook', async () => {
  const { token } = admin;
  const path = '/v1/webhooks/proposta.recebida';
  const created = await callApi('POST', '/v1/webhooks', { token, body: { evento: 'proposta.recebida', url } });
  expect(created).toMatchObject({ status: 201, json: { segredo: expect.stringMatching(/^whsec_[\w+/]+=*$/) } });
  expect(created.headers.get('location')).toBe(path);

  const read = await callApi('GET', path, { token });
  const { segredo: _secret, ...record } = created.json ?? {};
  expect(read).toMatchObject({ status: 200, json: record });
  const head = await callApi('HEAD', path, { token });
  expect(head).toMatchObject({ status: 200, text: '' });
  expect(head.headers.get('content-length')).toBe(read.headers.get('content-length'));

  const body = { url: `${url}&new`, autorizacao: 'Bearer abc' };
  const replaced = await callApi('PUT', path, { token, body });
  const changes = { url: body.url, autorizacao_definida: true, atualizado_em: expect.any(String) };
  expect(replaced).toMatchObject({ status: 200, json: { ...record, ...changes } });
  expect(replaced.text).not.toContain('Bearer abc');
  const list = await callApi('GET', '/v1/webhooks', { token });
  expect(list.json).toEqual({ webhooks: [replaced.json], eventos_sem_webhook: [] });

  expect(await callApi('DELETE', path, { token })).toMatchObject({ status: 204, text: '' });
  expect((await callApi('GET', path, { token })).status).toBe(404);
});

// test/unit/webhooks/url-validation.test.ts tests other invalid URLs.
describeWith(['names'], 'a registration with a host name that resolves to', () => {
  it.each([
    ['no address', []],
    ['a private and a public address', ['93.184.215.14', '10.0.0.1']],
    ['only IPv6 addresses', ['2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
  ])('%s is rejected as url_not_public', async (title, addresses) => {
    const name = `${title.replace(/\W+/g, '-').toLowerCase()}.example.org`;
    await mapHost(name, addresses);
    const body = { evento: 'demanda.cancelada', url: `https://${name}/` };
    expect(await callApi('POST', '/v1/webhooks', { token: admin.token, body })).toMatchObject({
      status: 422,
      json: { code: 'validation_failed', errors: [{ pointer: '/url', code: 'url_not_public' }] },
    });
  });
});
