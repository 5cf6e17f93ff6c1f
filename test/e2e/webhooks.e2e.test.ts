import { beforeAll, describe, expect, it } from 'vitest';
import { mapHost } from '../support/e2e-receiver.ts';
import { callApi, createClient, openSession, type Session } from '../support/e2e-service.ts';
import { baseUrl, describeWith } from '../support/e2e-target.ts';

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

  it('is registered once per event', async () => {
    const { token } = admin;
    const body = { evento: 'mensagem.recebida', url };
    const answers = await Promise.all([1, 2, 3].map(() => callApi('POST', '/v1/webhooks', { token, body })));
    expect(answers.map(answer => answer.status).sort()).toEqual([201, 409, 409]);
    const refused = answers.find(answer => answer.status === 409);
    expect(refused?.json).toMatchObject({ status: 409, code: 'webhook_exists' });
  });
});

describe('the URL of a webhook', () => {
  const evento = 'demanda.cancelada';
  const register = (at: string) => callApi('POST', '/v1/webhooks', { token: admin.token, body: { evento, url: at } });
  const expectRefused = async (at: string, code: string) =>
    expect(await register(at)).toMatchObject({
      status: 422,
      json: { code: 'validation_failed', errors: [{ pointer: '/url', code, detail: expect.any(String) }] },
    });

  it.each([
    ['https://public.example.com/\n', 'url_invalid'],
    ['https://①②⑦.0.0.1/', 'url_not_public'],
    [`https://${new URL(baseUrl).hostname}/`, 'url_not_public'], // the service itself
  ])('may not be %j: %s', expectRefused);

  it('may have another port and a query, and stays when its replacement is refused', async () => {
    const { token } = admin;
    const own = `${new URL(url).origin}:8443/a?b=c`;
    expect((await register(own)).status).toBe(201);
    const body = { url: 'https://169.254.169.254/' };
    const replaced = await callApi('PUT', `/v1/webhooks/${evento}`, { token, body });
    expect(replaced).toMatchObject({ status: 422, json: { errors: [{ pointer: '/url', code: 'url_not_public' }] } });
    expect((await callApi('GET', `/v1/webhooks/${evento}`, { token })).json).toMatchObject({ url: own });
    await callApi('DELETE', `/v1/webhooks/${evento}`, { token });
  });

  describeWith(['names'], 'is judged by the addresses behind its name', () => {
    it.each([
      ['no address', []],
      ['a private one beside a public one', ['93.184.215.14', '10.0.0.1']],
      ['IPv6 alone: there is no way there', ['2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
    ])('%s: url_not_public', async (title, answers) => {
      const name = `${title.replace(/\W+/g, '-').toLowerCase()}.example.org`;
      await mapHost(name, answers);
      await expectRefused(`https://${name}/`, 'url_not_public');
    });
  });
});
