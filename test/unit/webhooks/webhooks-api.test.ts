import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { environment } from '../../../lab/world/functions/base-api.ts';
import { composeWebhooksApi } from '../../../lambdas/base-api/webhooks-api.composition.ts';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { makeHttpHandler } from '../../../lambdas/platform/lambda-handler.ts';
import { systemRandom } from '../../../lambdas/platform/random.ts';
import { makeTelemetry, type Telemetry } from '../../../lambdas/platform/telemetry.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { authorizationBinding, secretBinding, webhookKey } from '../../../lambdas/webhooks/webhook.ts';
import { makeCallers } from '../../support/callers.ts';
import { httpRequest } from '../../support/http-request.ts';
import type { StageRequest, StageResponse } from '../../support/stage.ts';
import { makeStage, type Stage } from '../../support/stage.ts';
import { noon } from '../delivery/builders.ts';
import { encryption, keyringDynamo, kms } from '../delivery/test-keyring.ts';

const account = 'conta-1';

let stage: Stage;
beforeEach(() => {
  stage = makeStage();
});

/** Makes calls to a table fail if they match a pattern. */
const fail = (table: string, pattern: RegExp, error: Error) => {
  const { execute } = stage.tables;
  vi.spyOn(stage.tables, 'execute').mockImplementation(command => {
    const text = `${command.constructor.name} ${JSON.stringify(command.input)}`;
    if (text.includes(`"${table}"`) && pattern.test(text)) throw error;
    return execute(command);
  });
};

const send = async (method: string, path: string, sent: StageRequest = {}): Promise<StageResponse> => {
  const response = await stage.request(method, path, sent);
  if (response?.status === undefined) throw new Error('no response');
  const { status, headers, json } = response;
  expect(headers['cache-control']).toBe('no-store');
  const isError = status >= 400;
  expect('content-language' in headers).toBe(isError); // only errors contain texts
  if (isError) {
    expect(headers['content-type']).toBe('application/problem+json');
    expect(json).toMatchObject({ type: 'about:blank', status });
  }
  return response;
};

const url = 'https://receiver.example.com/hook';
const registration = { evento: 'demanda.criada', url };
const register = (changes: object = {}) => send('POST', '/v1/webhooks', { body: { ...registration, ...changes } });
const codeOf = ({ status, json }: StageResponse) => `${status} ${json?.code}`;
const findingsOf = ({ json }: StageResponse) =>
  json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
const logged = () => stage.lines.map(line => JSON.parse(line));
const find = () => stage.webhooks.find(account, 'demanda.criada');

const errorNamed = (name: string) => Object.assign(new Error(`s3cret ${name}`), { name });

/** Composes the function without a stage. By default, DynamoDB throttles every call. */
const composeApi = (
  telemetry: Pick<Telemetry, 'log'>,
  { docsUrl, dynamo = throttle }: { docsUrl?: string; dynamo?: Dynamo } = {},
) =>
  composeWebhooksApi(
    { ...environment, docsUrl },
    {
      ...{ dynamo, random: systemRandom, kms, resolve: async () => [] },
      time: { ...systemTime, now: stage.now, pause: async () => {} },
    },
    telemetry,
  );
const throttle = () => Promise.reject(errorNamed('ThrottlingException'));

/** Returns the status of a response and the log lines of the function without a stage. */
const handleRequest = async (method: string, path: string, dynamo?: Dynamo) => {
  vi.stubEnv('METRICS_NAMESPACE', 'Emissor/test');
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const telemetry = makeTelemetry('webhooks');
  const handler = makeHttpHandler(telemetry, composeApi(telemetry, dynamo && { dynamo }));
  const authorization = await makeCallers(stage.now, stage.dynamo).authorization(
    `Bearer admin|webhooks:read webhooks:manage|${account}`,
  );
  const request = httpRequest({ method, path, headers: { authorization } });
  const response = await handler(request, { functionVersion: '7' } as Context);
  const lines = written.mock.calls.map(([line]) => JSON.parse(String(line)));
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  return { status: response?.statusCode, lines };
};

it('events without a webhook are listed by name until a webhook is registered', async () => {
  for (const event of ['proposta.recebida', 'demanda.criada']) stage.publishEvent({ event, id_proposta: 1 });
  await stage.pass(0);
  const ultimo_em = new Date(noon).toISOString();
  const listed = async () => (await send('GET', '/v1/webhooks')).json.eventos_sem_webhook;
  const entry = (evento: string) => ({ evento, ultimo_em });
  expect(await listed()).toEqual([entry('demanda.criada'), entry('proposta.recebida')]);
  await register();
  expect(await listed()).toEqual([entry('proposta.recebida')]);
  await send('DELETE', '/v1/webhooks/demanda.criada');
  expect(await listed()).toHaveLength(2);
});

describe('the health of a webhook', () => {
  const failingSince = Date.UTC(2026, 10, 19, 8);
  const health = { falhando_desde: '2026-11-19T08:00:00.000Z', lento_desde: '2026-11-20T12:00:00.000Z' };
  const slowDown = async () => {
    await stage.slowDown();
    await stage.pass(1_000);
  };

  it('includes the start of failures and the start of the slow lane', async () => {
    await slowDown();
    await stage.register({ failingSince });
    await register({ evento: 'proposta.recebida' });
    expect((await send('GET', '/v1/webhooks/demanda.criada')).json).toMatchObject(health);
    expect((await send('GET', '/v1/webhooks')).json.webhooks).toMatchObject([
      { evento: 'demanda.criada', ...health },
      { evento: 'proposta.recebida', falhando_desde: null, lento_desde: null },
    ]);
  });

  it('still includes the slow lane after a new registration for the event', async () => {
    await slowDown();
    expect((await register()).json).toMatchObject({ falhando_desde: null, lento_desde: health.lento_desde });
  });

  it('is read before a registration, because a later error would lose the secret', async () => {
    fail('Deliveries', /slowness/, new Error('the table is down'));
    expect((await register()).status).toBe(500);
    expect(await find()).toBeUndefined();
  });

  it('includes only the slow lane after a new URL or a reactivation', async () => {
    await slowDown();
    const reset = { falhando_desde: null, lento_desde: health.lento_desde, criado_em: new Date(noon).toISOString() };
    await stage.register({ failingSince, createdAt: noon });
    const other = { body: { url: 'https://other.example.com/' } };
    const replaced = (await send('PUT', '/v1/webhooks/demanda.criada', other)).json;
    expect(replaced).toMatchObject({ ...reset, atualizado_em: new Date(stage.now()).toISOString() });
    await stage.register({ failingSince, createdAt: noon, status: 'suspended', suspensionReason: 'gone' });
    const active = { ...reset, estado: 'ativo', motivo_suspensao: null };
    expect((await send('POST', '/v1/webhooks/demanda.criada/reativacao')).json).toMatchObject(active);
  });
});

describe('POST /v1/webhooks', () => {
  it('stores the credential and the secret encrypted and bound to the account and the event', async () => {
    const { json } = await register({ autorizacao: 'Bearer s3cret' });
    const stored = await find();
    expect(JSON.stringify(stored)).not.toContain('s3cret');
    expect(JSON.stringify(stored)).not.toContain(json.segredo);
    const { encryptedAuthorization = '', secrets } = stored ?? { secrets: [] };
    const encrypted = secrets[0]?.encrypted ?? '';
    const binding = authorizationBinding(account, 'demanda.criada');
    expect(await encryption.decrypt(encryptedAuthorization, binding)).toBe('Bearer s3cret');
    expect(await encryption.decrypt(encrypted, secretBinding(account, 'demanda.criada'))).toBe(json.segredo);
    await expect(encryption.decrypt(encrypted, secretBinding(account, 'demanda.cancelada'))).rejects.toThrow();
    expect(stage.lines.join()).not.toMatch(/s3cret|whsec_|receiver/);
  });

  const credentials = ['x', '!', 'Basic dXNlcjpwYXNz', 'a b', 'Authorization', 'X-Authorization: x', '~'.repeat(2_048)];
  it.each([...credentials, undefined, null])('accepts autorizacao %j and ignores null', async autorizacao => {
    const { status, json } = await register({ autorizacao });
    expect([status, json.autorizacao_definida]).toEqual([201, typeof autorizacao === 'string']);
  });

  it.each<[object, readonly string[]]>([
    ...['Demanda.Criada', 'demanda.criada ', '', 1, null].map((evento): [object, string[]] => [
      { evento },
      ['/evento unknown_event'],
    ]),
    ...['', ' ', ' a', 'a ', 'a\nb', 'a\r\nX: y', 'a\tb', 'ã', '\u007f', '~'.repeat(2_049)].map(
      (autorizacao): [object, string[]] => [{ autorizacao }, ['/autorizacao invalid_value']],
    ),
    ...['Authorization: Bearer x', 'authorization:x', ' Authorization : x', '\tAuthorization:'].map(
      (autorizacao): [object, string[]] => [{ autorizacao }, ['/autorizacao invalid_value']],
    ),
    [{ autorizacao: ['x'] }, ['/autorizacao wrong_type']],
    [{ url: null }, ['/url wrong_type']],
    [{ autorizaçao: 'x' }, ['/autorizaçao unknown_field']],
    [JSON.parse('{"__proto__":1}'), ['/__proto__ unknown_field']],
    [{ 'a/b~c': 1, segredo: 'x' }, ['/a~1b~0c unknown_field', '/segredo unknown_field']],
    [
      { evento: 'x', url: 'http://localhost/', autorizacao: '', outro: 1 },
      [
        '/autorizacao invalid_value',
        '/evento unknown_event',
        '/outro unknown_field',
        '/url url_not_https',
        '/url url_not_public',
      ],
    ],
  ])('rejects %j with every finding', async (changes, findings) => {
    const rejected = await register(changes);
    expect(codeOf(rejected)).toBe('422 validation_failed');
    expect(findingsOf(rejected).sort()).toEqual(findings);
    expect(await stage.webhooks.list(account)).toEqual([]);
  });

  it('does not repeat values of the request in errors', async () => {
    const body = { ...registration, autorizacao: 's3cret\n', s3cret: 1, url: 'https://s3cret@receiver.example.com/' };
    for (const language of ['en', 'pt']) {
      const rejected = await send('POST', '/v1/webhooks', { body, headers: { 'accept-language': language } });
      expect(JSON.stringify(rejected.json).replace('"/s3cret"', '')).not.toContain('s3cret');
    }
  });
});

describe('the registration limit', () => {
  const path = '/v1/webhooks/demanda.criada';
  const replace = (options: StageRequest = {}) => send('PUT', path, { body: { url }, ...options });
  const other = 'admin|webhooks:manage|conta-2';

  it('is 30 POST and PUT requests per account and minute, and prevents DNS queries for rejected requests', async () => {
    expect((await register()).status).toBe(201);
    await stage.pass(2_000);
    for (let count = 1; count < 30; count++) expect((await replace()).status).toBe(200);
    for (const rejected of [await replace(), await register({ url: 'https://unasked.example.com/' })])
      expect([codeOf(rejected), rejected.headers['retry-after']]).toEqual(['429 rate_limited', '58']);
    expect((await send('POST', '/v1/webhooks', { body: registration, token: other })).status).toBe(201);
    expect((await send('GET', path)).status).toBe(200);
  });

  const [limited, large] = ['429 rate_limited', 'x'.repeat(16_385)];
  it.each<[string, StageRequest, string]>([
    ['an unknown token', { token: 'nonsense' }, '401 invalid_token'],
    ['a member', { token: `member|webhooks:manage|${account}` }, '403 admin_required'],
    ['a wrong media type', { headers: { 'content-type': 'text/plain' }, raw: large }, '415 unsupported_media_type'],
    ['a body that is too large', { raw: large }, '413 payload_too_large'],
    ['a body that is not JSON', { raw: '{' }, '400 invalid_json'],
    ['an unknown field', { body: { url, outro: 1 } }, '422 validation_failed'],
    ['a URL that is not public', { body: { url: 'https://10.0.0.1/' } }, '422 validation_failed'],
    ['a name that does not exist', { body: { url: 'https://nowhere.example.com/' } }, limited],
    ['a name without a public address', { body: { url: 'https://six.example.com/' } }, limited],
    ['an event without a webhook', {}, limited],
  ])('is checked in the documented order for a replacement with %s', async (_, sent, code) => {
    for (let count = 0; count < 30; count++) await replace();
    expect(codeOf(await replace(sent))).toBe(code);
  });

  it('is checked before the existence of the event and the webhook', async () => {
    for (let count = 0; count < 30; count++) await replace();
    await stage.register();
    expect(codeOf(await send('PUT', '/v1/webhooks/demanda.inventada', { body: { url } }))).toBe(limited);
    expect(codeOf(await register())).toBe(limited);
  });

  it('does not count malformed requests, which cause no DNS query', async () => {
    for (let count = 0; count < 31; count++) {
      const rejected = await register({ outro: 1, url: 'https://unasked.example.com/' });
      expect(findingsOf(rejected)).toEqual(['/outro unknown_field']);
    }
    expect((await register()).status).toBe(201);
  });
});

describe('POST /v1/webhooks/{evento}/segredo', () => {
  const rotate = (options: StageRequest = {}) => send('POST', '/v1/webhooks/demanda.criada/segredo', options);

  it('returns a new secret and allows at most four replaced secrets to sign', async () => {
    await register();
    for (let time = 0; time < 4; time++) {
      const { status, json } = await rotate(time % 2 ? { body: {} } : {});
      expect(status).toBe(201);
      expect(Object.keys(json)).toEqual(['segredo']);
      const [current] = (await find())?.secrets ?? [];
      const secret = await encryption.decrypt(current?.encrypted ?? '', secretBinding(account, 'demanda.criada'));
      expect(secret).toBe(json.segredo);
    }
    await stage.pass(3_599_999);
    const rejected = await rotate();
    expect(codeOf(rejected)).toBe('409 too_many_secrets');
    expect(rejected.headers['retry-after']).toBe(String(23 * 3_600 + 1)); // rounded up
  });

  it('sets the times at which the replaced secrets stop signing', async () => {
    await register();
    const start = stage.now();
    await rotate();
    await stage.pass(60_000);
    await rotate();
    const shown = async () => (await send('GET', '/v1/webhooks/demanda.criada')).json.segredos_anteriores;
    const until = (replacedAt: number) => ({ valido_ate: new Date(replacedAt + 24 * 3_600_000).toISOString() });
    expect(await shown()).toEqual([until(start + 60_000), until(start)]);
    await stage.run(start + 24 * 3_600_000);
    expect(await shown()).toEqual([until(start + 60_000)]);
    await rotate({ body: { imediato: true } });
    expect(await shown()).toEqual([]);
  });
});

it.each(['%', '%zz', 'demanda%2Ecriada', 'DEMANDA.CRIADA'])(
  'a request for the event name %s returns 404',
  async evento => {
    await register();
    expect((await send('GET', `/v1/webhooks/${evento}`)).status).toBe(404); // the gateway decodes the path once
  },
);

it('a second registration for an event returns 409 only if its values are valid', async () => {
  await register();
  expect(codeOf(await register({ url: 'http://x.example.com/' }))).toBe('422 validation_failed');
  expect(codeOf(await register())).toBe('409 webhook_exists');
});

it.each([
  ['GET', '/v1/webhooks', 200],
  ['GET', '/v1/webhooks/demanda.criada', 200],
  ['POST', '/v1/webhooks/demanda.criada/reativacao', 200],
  ['DELETE', '/v1/webhooks/demanda.criada', 204],
] as const)('%s %s ignores a body of up to 16 KiB with any media type', async (method, path, status) => {
  await register();
  const sent = { raw: 'x'.repeat(16_384), headers: { 'content-type': 'text/plain' } };
  expect((await send(method, path, sent)).status).toBe(status);
});

it('the type of an error is the documentation page of its code if the stage has one (RFC 9457 section 3.1.1)', async () => {
  const api = composeApi(stage, { docsUrl: 'https://docs.example.com/erros' });
  const { body = '' } = await api(httpRequest({ path: '/v1/none' }));
  expect(JSON.parse(body)).toMatchObject({ type: 'https://docs.example.com/erros#not_found', code: 'not_found' });
});

it('the log line of an error contains the caller, the route and the reason, but no values of the request', async () => {
  await register({ evento: 'x', url: 'http://localhost/', autorizacao: 's3cret\n', s3cret: 1 });
  await send('GET', '/v1/webhooks/demanda.criada');
  await send('PATCH', '/v1/webhooks/demanda.criada'); // regression: the log line of a 405 contained no route
  const caller = { account, clientId: expect.any(String), userId: expect.any(String) };
  const findings = expect.arrayContaining(['/evento unknown_event', '/url url_not_https', 'unknown_field']);
  const [first, ...others] = logged();
  expect(first).toEqual([
    'api.refused',
    { method: 'POST', route: '/v1/webhooks', ...caller, status: 422, code: 'validation_failed', findings },
  ]);
  expect(others).toMatchObject([
    ['api.refused', { route: '/v1/webhooks/{evento}', code: 'webhook_not_found' }],
    ['api.refused', { route: '/v1/webhooks/{evento}', code: 'method_not_allowed' }],
  ]);
  expect(stage.lines.join()).not.toContain('s3cret');
});

describe('the webhooks API', () => {
  const failReads = (name: string) => fail('Webhooks', /^Query/, errorNamed(name));

  it('returns 503 with Retry-After 1 after throttling', async () => {
    failReads('ThrottlingException');
    const busy = { status: 503, json: { code: 'temporarily_unavailable' }, headers: { 'retry-after': '1' } };
    expect(await send('GET', '/v1/webhooks')).toMatchObject(busy);
  });

  it('counts a 503 that a dependency causes and logs the cause as an error', async () => {
    const { lines } = await handleRequest('GET', '/v1/webhooks');
    const cause = { level: 'ERROR', message: 'api.dependency_busy', errorName: 'ThrottlingException' };
    for (const line of [cause, { service: 'webhooks', functions: 'http', RequestFailed: 1 }])
      expect(lines).toContainEqual(expect.objectContaining(line));
  });

  it('does not count a 503 that concurrent changes cause', async () => {
    await register();
    const { status, lines } = await handleRequest('DELETE', '/v1/webhooks/demanda.criada', command => {
      const text = JSON.stringify(command.input);
      if (text.includes('"ConditionExpression"')) return Promise.reject(errorNamed('ConditionalCheckFailedException'));
      return (text.includes('"Keyring"') ? keyringDynamo : stage.dynamo)(command);
    });
    expect(status).toBe(503);
    expect(lines).toContainEqual(expect.objectContaining({ message: 'api.refused', reason: 'concurrent_change' }));
    expect(JSON.stringify(lines)).not.toContain('RequestFailed');
  });

  it('returns an opaque 500 after any other error', async () => {
    failReads('ResourceNotFoundException');
    const rejected = await send('GET', '/v1/webhooks');
    expect(codeOf(rejected)).toBe('500 internal_error');
    expect(JSON.stringify(rejected.json)).not.toContain('s3cret');
    expect(stage.lines.join()).not.toContain('s3cret');
    expect(stage.lines.join()).toContain('ResourceNotFoundException');
  });

  it('returns an opaque 500 after reading an invalid item', async () => {
    const item = { ...webhookKey(account, 'demanda.criada'), webhookId: 'x', url };
    await stage.dynamo(new PutCommand({ TableName: 'Webhooks', Item: item }));
    expect(codeOf(await send('GET', '/v1/webhooks/demanda.criada'))).toBe('500 internal_error');
  });
});
