import { beforeAll, describe, expect, it } from 'vitest';
import { mapHost } from '../support/e2e-receiver.ts';
import { callApi, createClient, openSession, type Session } from '../support/e2e-service.ts';
import { describeWith } from '../support/e2e-target.ts';

let admin: Session;
const url = 'https://93.184.215.14/hook?of=acme';

beforeAll(async () => {
  admin = await openSession(await createClient());
});

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const recordOf = (evento: string, more: object = {}) => ({
  evento,
  url,
  autorizacao_definida: false,
  estado: 'ativo',
  motivo_suspensao: null,
  falhando_desde: null,
  lento_desde: null,
  segredos_anteriores: [],
  criado_em: expect.stringMatching(time),
  atualizado_em: expect.stringMatching(time),
  ...more,
});

describe('the life of a webhook', () => {
  it('is registered, read, listed, replaced and deleted', async () => {
    const { token } = admin;
    const path = '/v1/webhooks/proposta.recebida';

    const created = await callApi('POST', '/v1/webhooks', { token, body: { evento: 'proposta.recebida', url } });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(path);
    expect(created.json).toEqual(
      recordOf('proposta.recebida', { segredo: expect.stringMatching(/^whsec_[\w+/]+=*$/) }),
    );

    const read = await callApi('GET', path, { token });
    expect(read).toMatchObject({ status: 200, json: recordOf('proposta.recebida') });
    expect(read.json).not.toHaveProperty('segredo');
    expect(read.headers.get('content-type')).toBe('application/json');
    expect(read.headers.get('cache-control')).toBe('no-store');

    await callApi('POST', '/v1/webhooks', { token, body: { evento: 'demanda.criada', url, autorizacao: null } });
    const head = await callApi('HEAD', path, { token });
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.get('content-length')).toBe(read.headers.get('content-length'));

    const list = await callApi('GET', '/v1/webhooks', { token });
    expect(list.status).toBe(200);
    expect(list.json).toEqual({
      webhooks: [recordOf('demanda.criada'), recordOf('proposta.recebida')],
      eventos_sem_webhook: [],
    });

    const body = { url: `${url}&new`, autorizacao: 'Bearer abc' };
    const replaced = await callApi('PUT', path, { token, body });
    expect(replaced.status).toBe(200);
    expect(replaced.json).toEqual(
      recordOf('proposta.recebida', {
        url: body.url,
        autorizacao_definida: true,
        criado_em: read.json?.criado_em,
      }),
    );
    expect(replaced.text).not.toContain('Bearer abc');
    // An omitted autorizacao is removed: a new host never gets an old credential.
    const withoutIt = await callApi('PUT', path, { token, body: { url } });
    expect(withoutIt.json).toMatchObject({ autorizacao_definida: false });

    const rotated = await callApi('POST', `${path}/segredo`, { token });
    expect(rotated).toMatchObject({ status: 201, json: { segredo: expect.stringMatching(/^whsec_/) } });
    expect(rotated.json?.segredo).not.toBe(created.json?.segredo);

    const deleted = await callApi('DELETE', path, { token });
    expect(deleted).toMatchObject({ status: 204, text: '' });
    expect((await callApi('GET', path, { token })).status).toBe(404);
    expect((await callApi('DELETE', path, { token })).status).toBe(404);
  });
});

// The unit tests of the URL policy judge the spellings of URLs.
describeWith(['names'], 'the URL of a webhook is judged by the addresses behind its name', () => {
  it.each([
    ['no address', []],
    ['a private one next to a public one', ['93.184.215.14', '10.0.0.1']],
    ['IPv6 alone: there is no way there', ['2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
  ])('%s: url_not_public', async (title, addresses) => {
    const name = `${title.replace(/\W+/g, '-').toLowerCase()}.example.org`;
    await mapHost(name, addresses);
    const body = { evento: 'demanda.cancelada', url: `https://${name}/` };
    expect(await callApi('POST', '/v1/webhooks', { token: admin.token, body })).toMatchObject({
      status: 422,
      json: { code: 'validation_failed', errors: [{ pointer: '/url', code: 'url_not_public' }] },
    });
  });
});
