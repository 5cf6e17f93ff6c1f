import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { callApi, openSession, publicHost, type Session } from '../support/e2e-webhooks.ts';

let client: Client;
let admin: Session;
let url: string;

beforeAll(async () => {
  client = await createClient();
  admin = await openSession(client);
  url = `https://${await publicHost()}/hook?of=acme`;
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
    // An omitted autorizacao is removed: a new host never gets an old credential.
    const withoutIt = await callApi('PUT', path, { token, body: { url } });
    expect(withoutIt.json).toMatchObject({ autorizacao_definida: false });

    const deleted = await callApi('DELETE', path, { token });
    expect(deleted).toMatchObject({ status: 204, text: '' });
    expect((await callApi('GET', path, { token })).status).toBe(404);
    expect((await callApi('DELETE', path, { token })).status).toBe(404);
  });

  it('is registered once per event', async () => {
    const { token } = admin;
    const body = { evento: 'mensagem.recebida', url };
    const answers = await Promise.all([1, 2, 3].map(() => callApi('POST', '/v1/webhooks', { token, body })));
    expect(answers.map(answer => answer.status).sort()).toEqual([201, 409, 409]);
    const refused = answers.find(answer => answer.status === 409);
    expect(refused?.json).toMatchObject({ status: 409, code: 'webhook_exists' });
  });

  it('never shows the registered autorizacao', async () => {
    const { token } = admin;
    const body = { evento: 'reembolso.solicitado', url, autorizacao: 'Bearer secret-of-the-receiver' };
    const created = await callApi('POST', '/v1/webhooks', { token, body });
    const read = await callApi('GET', '/v1/webhooks/reembolso.solicitado', { token });
    const list = await callApi('GET', '/v1/webhooks', { token });
    expect(created.json).toMatchObject({ autorizacao_definida: true });
    for (const answer of [created, read, list]) expect(answer.text).not.toContain('secret-of-the-receiver');
  });

  it('belongs to one account', async () => {
    const [owner, neighbour] = await Promise.all([openSession(client), openSession(client)]);
    await callApi('POST', '/v1/webhooks', { token: owner.token, body: { evento: 'demanda.criada', url } });

    const list = await callApi('GET', '/v1/webhooks', { token: neighbour.token });
    expect(list.json).toEqual({ webhooks: [], eventos_sem_webhook: [] });
    const read = await callApi('GET', '/v1/webhooks/demanda.criada', { token: neighbour.token });
    expect(read.status).toBe(404);
    const deleted = await callApi('DELETE', '/v1/webhooks/demanda.criada', { token: neighbour.token });
    expect(deleted.status).toBe(404);
    expect((await callApi('GET', '/v1/webhooks/demanda.criada', { token: owner.token })).status).toBe(200);
  });
});
