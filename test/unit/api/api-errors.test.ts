import { beforeEach, describe, expect, it } from 'vitest';
import type { deliveryRoutes } from '../../../lambdas/delivery/api/routes.ts';
import type { OperationId } from '../../../lambdas/platform/route-table.ts';
import type { webhookRoutes } from '../../../lambdas/webhooks/routes.ts';
import { responseFaults } from '../../support/contract/check.ts';
import { documents, type Method } from '../../support/contract/document.ts';
import { type ErrorText, type FindingName, findingNames, isKnownProblem } from '../../support/error-texts.ts';
import { makeStage, type Stage, type StageRequest } from '../../support/stage.ts';

// Tests that every operation of {base_url} returns the problems of the OpenAPI document in both languages (RFC 9457).

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register(); // in a different account from the callers
});

const callers = {
  nobody: { headers: { authorization: '' } },
  stranger: { headers: { authorization: 'Bearer garbage' } },
  admin: { token: 'admin|webhooks:read webhooks:manage|empty' },
  reader: { token: 'admin|webhooks:read|empty' },
  manager: { token: 'admin|webhooks:manage|empty' },
  unscoped: { token: 'admin||empty' },
  member: { token: 'member|webhooks:manage|empty' },
} as const satisfies Record<string, StageRequest>;

/**
 * Sends a request in each language. Checks that both responses are problems (RFC 9457) and differ only in texts that the tables contain.
 * Responses to HEAD have no body.
 */
async function sendAndDescribe({ method, path }: Pick<Operation, 'method' | 'path'>, sent: StageRequest) {
  const send = async (language: string, contentLanguage: string) => {
    const response = await stage.request(method, path, {
      ...sent,
      headers: { 'content-type': '', ...sent.headers, 'accept-language': language },
    });
    expect(response.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'content-language': contentLanguage,
      'cache-control': 'no-store',
    });
    const headers = new Headers({ ...response.headers, 'apigw-requestid': 'AbCdEfGhIjKlMnO=' });
    const body = method === 'HEAD' ? '' : JSON.stringify(response.json);
    const exchange = { host: 'base', method, path, status: Number(response.status), headers, body } as const;
    expect(responseFaults(exchange)).toEqual([]);
    return response;
  };
  const response = await send('fr', 'en');
  const portuguese = await send('pt-BR,pt;q=0.9,en;q=0.8', 'pt-BR');
  for (const name of ['allow', 'accept', 'www-authenticate'])
    expect(portuguese.headers[name]).toBe(response.headers[name]);
  expect(portuguese.status).toBe(response.status);
  if (method === 'HEAD') return { ...response, names: undefined, reported: `${response.status}` };
  const [problem, reported] = [response.json, portuguese.json];
  const same = ({ title: _title, detail: _detail, requisicao, errors = [], ...others }: typeof problem) => ({
    ...{ ...others, requisicao: typeof requisicao },
    errors: errors.map(({ pointer, code }: Record<string, string>) => ({ pointer, code })),
  });
  expect(problem).toMatchObject({ status: response.status, type: expect.any(String) });
  expect(same(reported)).toEqual(same(problem));
  expect(isKnownProblem(problem, reported), JSON.stringify([problem, reported])).toBe(true);
  const names = (problem.errors ?? []).map((error: ErrorText, at: number) => findingNames(error, reported.errors[at]));
  expect(names).not.toContainEqual([]);
  return { ...response, names, reported: `${response.status} ${problem.code}` };
}

const statusAndCode = ({ method }: Pick<Operation, 'method'>, status: number, code: string) =>
  method === 'HEAD' ? `${status}` : `${status} ${code}`;

const event = 'demanda.criada';
const json = { 'content-type': 'application/json' };
const text = { 'content-type': 'text/plain' };
const range = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T00:00:00-03:00', estado: 'falhou' };
const paths = Object.keys(documents.base.paths).filter(path => path.startsWith('/v1/'));

/** For each finding, an operation and a body or query that causes only this finding. */
const findings: Readonly<Record<FindingName, readonly [BaseOperation, object | string]>> = {
  required: ['registerWebhook', { evento: 'demanda.criada' }],
  unknown_field: ['rotateSecret', { imediata: true }],
  object_type: ['registerWebhook', []],
  string_type: ['registerWebhook', { evento: 'demanda.criada', url: 1 }],
  boolean_type: ['rotateSecret', { imediato: 'sim' }],
  event: ['registerWebhook', { evento: 'demanda.inventada', url: 'https://8.8.8.8/' }],
  choice: ['startReplay', { ...range, estado: 'entregue' }],
  choice_type: ['startReplay', { ...range, estado: 1 }],
  date_time: ['startReplay', { ...range, ate: '2026-11-20 12:00:00Z' }],
  plus_sign: ['listDeliveries', 'desde=2026-11-20T12:00:00+03:00'],
  autorizacao: ['replaceWebhook', { url: 'https://8.8.8.8/', autorizacao: ' x' }],
  header_name: ['replaceWebhook', { url: 'https://8.8.8.8/', autorizacao: ' AUTHORIZATION : Bearer x' }],
  well_formed: ['replaceWebhook', { url: 'https://8.8.8.8/\ud800' }],
  length: ['replaceWebhook', { url: `https://8.8.8.8/${'a'.repeat(2_048)}` }],
  characters: ['replaceWebhook', { url: 'https://8.8.8.8/a b' }],
  absolute: ['replaceWebhook', { url: 'nonsense' }],
  https: ['replaceWebhook', { url: 'http://8.8.8.8/' }],
  userinfo: ['replaceWebhook', { url: 'https://a:b@8.8.8.8/' }],
  fragment: ['replaceWebhook', { url: 'https://8.8.8.8/#a' }],
  port: ['replaceWebhook', { url: 'https://8.8.8.8:80/' }],
  ipv6_literal: ['replaceWebhook', { url: 'https://[2606:4700::1]/' }],
  dns_name: ['replaceWebhook', { url: 'https://a..example.com/' }],
  single_label: ['replaceWebhook', { url: 'https://receiver/' }],
  private_suffix: ['replaceWebhook', { url: 'https://receiver.internal/' }],
  public_address: ['replaceWebhook', { url: 'https://10.0.0.1/' }],
  limite_number: ['listDeliveries', 'limite=x'],
  limite_range: ['listDeliveries', 'limite=0'],
  cursor: ['listDeliveries', 'cursor=x'],
  range: ['startReplay', { ...range, ate: range.desde }],
  unknown_parameter: ['listDeliveries', 'pagina=1'],
  repeated: ['listDeliveries', 'limite=1&limite=1'],
  own_host: ['replaceWebhook', { url: 'https://base.example.com/' }],
  ipv4: ['replaceWebhook', { url: 'https://six.example.com/' }],
  not_found: ['replaceWebhook', { url: 'https://nowhere.example.com/' }],
  temporary: ['replaceWebhook', { url: 'https://silent.example.com/' }],
};

type BaseOperation = OperationId<typeof webhookRoutes> | OperationId<typeof deliveryRoutes>;

describe.each(paths.flatMap(operationsOf))('$method $path', operation => {
  const { id, method, path, scope, takesBody, isBodyRequired, mayHaveBody, body } = operation;
  const type = takesBody ? { headers: json } : {};

  it.each(['', 'Bearer', 'Basic eDp5'])('rejects %j without a token (RFC 6750 section 3.1)', async authorization => {
    const missing = await sendAndDescribe(operation, { headers: { authorization } });
    expect(missing.reported).toBe(statusAndCode(operation, 401, 'token_missing'));
    expect(missing.headers['www-authenticate']).toMatch(
      /^Bearer realm="webhooks", resource_metadata="https?:\/\/[^"\\]+\/\.well-known\/oauth-protected-resource"$/,
    );
  });

  it('requires a valid token', async () => {
    const invalid = await sendAndDescribe(operation, callers.stranger);
    expect(invalid.reported).toBe(statusAndCode(operation, 401, 'invalid_token'));
    expect(invalid.headers['www-authenticate']).toMatch(
      /^Bearer realm="webhooks", error="invalid_token", error_description="[^"\\]+", resource_metadata="[^"\\]+"$/,
    );
  });

  it('checks the role before the scope', async () => {
    expect((await sendAndDescribe(operation, callers.member)).reported).toBe(
      statusAndCode(operation, 403, 'admin_required'),
    );
  });

  it('checks the scope before the body', async () => {
    const sent = { ...callers.unscoped, headers: text };
    const rejected = await sendAndDescribe(operation, mayHaveBody ? { ...sent, raw: 'x' } : sent);
    expect(rejected.reported).toBe(statusAndCode(operation, 403, 'insufficient_scope'));
    expect(rejected.headers['www-authenticate']).toBe(
      `Bearer realm="webhooks", error="insufficient_scope", scope="${scope}"`,
    );
    const reading = await stage.request(method, path, callers.reader);
    expect(reading.status === 403).toBe(scope === 'webhooks:manage');
    expect((await stage.request(method, path, callers.manager)).status).not.toBe(403);
  });

  if (mayHaveBody)
    it('rejects a body over 16 KiB, but only after it checks the token', async () => {
      const headers = takesBody ? json : text;
      const raw = 'x'.repeat(16_385);
      expect((await sendAndDescribe(operation, { ...callers.admin, headers, raw })).reported).toBe(
        '413 payload_too_large',
      );
      const first = await sendAndDescribe(operation, { headers: { ...callers.stranger.headers, ...headers }, raw });
      expect(first.reported).toBe('401 invalid_token');
    });

  if (takesBody)
    it('accepts only JSON', async () => {
      const codeOf = async (headers: StageRequest['headers'], raw: string) =>
        (await sendAndDescribe(operation, { ...callers.admin, ...(headers && { headers }), raw })).reported;
      for (const headers of [text, undefined]) expect(await codeOf(headers, '{}')).toBe('415 unsupported_media_type');
      for (const raw of ['{', ...(isBodyRequired ? [''] : [])])
        expect(await codeOf(json, raw)).toBe('400 invalid_json');
    });

  if (takesBody)
    it('rejects an unknown field even for an unknown event', async () => {
      const other = { ...operation, path: path.replace(event, 'demanda.inventada') };
      const rejected = await sendAndDescribe(other, { ...callers.admin, headers: json, raw: '{"campo":1}' });
      expect(rejected.names).toContainEqual(['unknown_field']);
    });

  const ofOperation = Object.entries(findings).filter(([, [operationId]]) => operationId === id);
  it.each(ofOperation)('reports the finding %s', async (name, [, sent]) => {
    const content = typeof sent === 'string' ? { query: sent } : { headers: json, raw: JSON.stringify(sent) };
    const rejected = await sendAndDescribe(operation, { ...callers.admin, ...content });
    expect(rejected.reported).toBe(statusAndCode(operation, 422, 'validation_failed'));
    if (rejected.names) expect(rejected.names).toEqual([[name]]);
  });

  if (path.includes(event))
    it('returns 404 if the account has no webhook for the event', async () => {
      const sent = { ...callers.admin, ...(takesBody && { ...type, raw: body }) };
      for (const name of [event, 'demanda.finalizada', 'demanda.inventada', '__proto__']) {
        const rejected = await sendAndDescribe({ ...operation, path: path.replace(event, name) }, sent);
        expect(rejected.reported, name).toBe(statusAndCode(operation, 404, 'webhook_not_found'));
      }
    });
});

describe.each(paths)('%s', pattern => {
  const path = exampleOf(pattern);

  it('rejects other methods before authentication (RFC 9110 section 15.5.6)', async () => {
    const allowed = operationsOf(pattern).map(({ method }) => method);
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(other => !allowed.includes(other))) {
      const rejected = await sendAndDescribe({ method, path }, callers.stranger);
      expect(rejected.reported, method).toBe(statusAndCode({ method }, 405, 'method_not_allowed'));
      expect(rejected.headers.allow, method).toBe(allowed.join(', '));
    }
  });

  it('returns 404 for a trailing slash, regardless of the caller', async () => {
    for (const caller of [callers.nobody, callers.admin])
      expect((await sendAndDescribe({ method: 'GET', path: `${path}/` }, caller)).reported).toBe('404 not_found');
  });
});

type Operation = ReturnType<typeof operationsOf>[number];

/** Returns the operations of a path in the order of `Allow`, in which HEAD follows GET. */
function operationsOf(pattern: string) {
  const methods = Object.entries(documents.base.paths[pattern] ?? {}).filter(([name]) =>
    /^(?:get|post|put|delete)$/.test(name),
  );
  return methods.flatMap(([name, described]) => {
    const { operationId: id, security, requestBody } = described as Method;
    const method = name.toUpperCase();
    const operation = {
      id,
      method,
      path: exampleOf(pattern),
      scope: security.flatMap(({ login = [] }) => login)[0],
      takesBody: requestBody !== undefined,
      isBodyRequired: requestBody?.required === true,
      mayHaveBody: method !== 'GET', // `fetch` sends no body with GET and HEAD
      body: JSON.stringify(pattern.endsWith('/reenvios') ? range : method === 'PUT' ? { url: 'https://8.8.8.8/' } : {}),
    };
    return method === 'GET' ? [operation, { ...operation, method: 'HEAD' }] : [operation];
  });
}

function exampleOf(pattern: string): string {
  return pattern
    .replace('{evento}', event)
    .replace('reenvios/{id}', 'reenvios/reenvio_0000000000000000000000')
    .replace('entregas/{id}', 'entregas/evt_000000000000000000000000000');
}
