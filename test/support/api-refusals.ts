import { beforeAll, describe, expect, it } from 'vitest';
import type { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import type { OperationId } from '../../lambdas/platform/route-table.ts';
import type { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { documents, type Method } from './contract/document.ts';
import { type FindingName, findingNames, isProblemOfTables, type Told } from './refusal-texts.ts';

/** The callers that are refused, by their access tokens. Their account has no webhooks. */
export type Tokens = Readonly<Record<'admin' | 'reader' | 'manager' | 'unscoped' | 'member', string>>;

/** A request to {base_url}. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly query?: string;
}

/** An answer, whose headers have names in lower case. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/**
 * Describes what the operations of the OpenAPI document refuse alike, and each of their findings, wherever they run: in this process, or
 * behind HTTP.
 *
 * @param target - `isBrief`: asks in English alone, for no findings that depend on the stage or on name servers, and without variants
 * that take the same way.
 */
export function describeApiRefusals(target: {
  readonly isBrief?: boolean;
  readonly makeTokens: () => Promise<Tokens>;
  readonly send: (method: string, path: string, request: Sent) => Promise<Refusal>;
}): void {
  let tokens: Tokens;
  beforeAll(async () => {
    tokens = await target.makeTokens();
  });
  const as = (caller: keyof Tokens) => ({ authorization: `Bearer ${tokens[caller]}` });

  const paths = Object.keys(documents.base.paths).filter(path => path.startsWith('/v1/'));
  const operations = paths.flatMap(operationsOf);

  /**
   * Sends a request in each language, and reads the code of what must be a problem (RFC 9457), unless it is one of HEAD, which shows
   * none. The answers differ in their texts alone, which are those of the tables (RFC 9110 section 12.5.4).
   */
  const refusal = async (
    { method, path }: Pick<Operation, 'method' | 'path'>,
    headers: Sent['headers'],
    body?: string,
    query?: string,
  ) => {
    const ask = async (language: string, isAs: string) => {
      const content = { ...(body !== undefined && { body }), ...(query !== undefined && { query }) };
      const sent = { headers: { ...headers, 'accept-language': language }, ...content };
      const answer = await target.send(method, path, sent);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'content-language': isAs,
        'cache-control': 'no-store',
      });
      return { ...answer, problem: method === 'HEAD' ? undefined : JSON.parse(answer.text) };
    };
    const answer = await ask('fr', 'en');
    const inPortuguese = target.isBrief ? answer : await ask('pt-BR,pt;q=0.9,en;q=0.8', 'pt-BR');
    for (const name of ['allow', 'accept', 'www-authenticate'])
      expect(inPortuguese.headers[name]).toBe(answer.headers[name]);
    expect(inPortuguese.status).toBe(answer.status);
    if (method === 'HEAD') return { ...answer, found: undefined, told: `${answer.status}` };
    const [problem, told] = [answer.problem, inPortuguese.problem];
    const same = ({ title: _title, detail: _detail, requisicao, errors = [], ...others }: typeof problem) => ({
      ...{ ...others, requisicao: typeof requisicao },
      errors: errors.map(({ pointer, code }: Record<string, string>) => ({ pointer, code })),
    });
    expect(problem).toMatchObject({ status: answer.status, type: expect.any(String) });
    expect(same(told)).toEqual(same(problem));
    const translated = target.isBrief ? undefined : told;
    expect(isProblemOfTables(problem, translated), `${answer.text} and ${inPortuguese.text}`).toBe(true);
    const found = (problem.errors ?? []).map((finding: Told, at: number) =>
      findingNames(finding, translated?.errors[at]),
    );
    expect(found).not.toContainEqual([]);
    return { ...answer, found, told: `${answer.status} ${problem.code}` };
  };
  const tell = ({ method }: Pick<Operation, 'method'>, status: number, code: string) =>
    method === 'HEAD' ? `${status}` : `${status} ${code}`;

  describe.each(operations)('$method $path', operation => {
    const { id, scope, takesBody, isBodyRequired, mayHaveBody, body } = operation;

    const unlike = target.isBrief ? [] : [{ authorization: 'Bearer' }, { authorization: 'Basic eDp5' }];
    it.each<Sent['headers']>([{}, ...unlike])('requires a token, not %j (RFC 6750 section 3.1)', async headers => {
      const missing = await refusal(operation, headers);
      expect(missing.told).toBe(tell(operation, 401, 'token_missing'));
      expect(missing.headers['www-authenticate']).toMatch(
        /^Bearer realm="webhooks", resource_metadata="https?:\/\/[^"\\]+\/\.well-known\/oauth-protected-resource"$/,
      );
    });

    it('requires one that holds', async () => {
      const invalid = await refusal(operation, { authorization: 'Bearer garbage' });
      expect(invalid.told).toBe(tell(operation, 401, 'invalid_token'));
      expect(invalid.headers['www-authenticate']).toMatch(
        /^Bearer realm="webhooks", error="invalid_token", error_description="[^"\\]+", resource_metadata="[^"\\]+"$/,
      );
    });

    it('requires an administrator, before any scope', async () => {
      expect((await refusal(operation, as('member'))).told).toBe(tell(operation, 403, 'admin_required'));
    });

    it('requires its scope, before the body is read', async () => {
      const sent = mayHaveBody ? 'x' : undefined;
      const refused = await refusal(operation, { ...as('unscoped'), 'content-type': 'text/plain' }, sent);
      expect(refused.told).toBe(tell(operation, 403, 'insufficient_scope'));
      expect(refused.headers['www-authenticate']).toBe(
        `Bearer realm="webhooks", error="insufficient_scope", scope="${scope}"`,
      );
      const { method, path } = operation;
      const reading = await target.send(method, path, { headers: as('reader') });
      expect(reading.status === 403).toBe(scope === 'webhooks:manage');
      const managing = await target.send(method, path, { headers: as('manager') });
      expect(managing.status).not.toBe(403);
    });

    if (mayHaveBody)
      it('takes a body of at most 16 KiB', async () => {
        const type = takesBody ? json : { 'content-type': 'text/plain' };
        const large = await refusal(operation, { ...as('admin'), ...type }, 'x'.repeat(16_385));
        expect(large.told).toBe('413 payload_too_large');
        const first = await refusal(operation, { authorization: 'Bearer garbage', ...type }, 'x'.repeat(16_385));
        expect(first.told).toBe('401 invalid_token');
      });

    if (takesBody)
      it('takes JSON only', async () => {
        const answers = [
          await refusal(operation, { ...as('admin'), 'content-type': 'text/plain' }, '{}'),
          await refusal(operation, as('admin'), '{}'),
          await refusal(operation, { ...as('admin'), ...json }, '{'),
          ...(isBodyRequired ? [await refusal(operation, { ...as('admin'), ...json }, '')] : []),
        ];
        expect(answers.map(({ told }) => told)).toEqual([
          '415 unsupported_media_type',
          '415 unsupported_media_type',
          '400 invalid_json',
          ...(isBodyRequired ? ['400 invalid_json'] : []),
        ]);
      });

    if (takesBody)
      it('takes no field that it does not know, whatever the event', async () => {
        const path = operation.path.replace(event, 'demanda.inventada');
        const refused = await refusal({ ...operation, path }, { ...as('admin'), ...json }, '{"campo":1}');
        expect(refused.found).toContainEqual(['unknown_field']);
      });

    it.each(findingRequests(id, target.isBrief))('finds %s', async (name, sent) => {
      const content = typeof sent === 'string' ? [undefined, sent] : [JSON.stringify(sent)];
      const refused = await refusal(operation, { ...as('admin'), ...json }, ...content);
      expect(refused.told).toBe(tell(operation, 422, 'validation_failed'));
      if (refused.found) expect(refused.found).toEqual([[name]]);
    });

    if (operation.path.includes(event))
      it('finds no webhook of the account, whatever the event', async () => {
        const sent = takesBody ? body : undefined;
        const others = target.isBrief ? [] : ['demanda.finalizada', 'demanda.inventada', '__proto__'];
        for (const name of [event, ...others]) {
          const path = operation.path.replace(event, name);
          const refused = await refusal({ ...operation, path }, { ...as('admin'), ...(takesBody && json) }, sent);
          expect(refused.told, name).toBe(tell(operation, 404, 'webhook_not_found'));
        }
      });
  });

  describe.each(paths)('%s', pattern => {
    const path = exampleOf(pattern);

    it('takes its methods only, whoever asks (RFC 9110 section 15.5.6)', async () => {
      const allowed = operationsOf(pattern).map(({ method }) => method);
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        other => !allowed.includes(other),
      )) {
        const refused = await refusal({ method, path }, { authorization: 'Bearer garbage' });
        expect(refused.told, method).toBe(tell({ method }, 405, 'method_not_allowed'));
        expect(refused.headers.allow, method).toBe(allowed.join(', '));
      }
    });

    it('is another one with a slash behind it, whoever asks', async () => {
      expect((await refusal({ method: 'GET', path: `${path}/` }, {})).told).toBe('404 not_found');
      expect((await refusal({ method: 'GET', path: `${path}/` }, as('admin'))).told).toBe('404 not_found');
    });
  });
}

const event = 'demanda.criada';
const json = { 'content-type': 'application/json' };
const range = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T00:00:00-03:00', estado: 'falhou' };

/** Requests that have one finding each, by its name: the operation, and the body or the query. */
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

/** Those that depend on the stage, or on name servers. */
const findingsOfHosts = ['own_host', 'ipv4', 'not_found', 'temporary'];

type BaseOperation = OperationId<typeof webhookRoutes> | OperationId<typeof deliveryRoutes>;

function findingRequests(id: string, isBrief = false) {
  return Object.entries(findings).flatMap(([name, [operation, sent]]) =>
    operation === id && !(isBrief && findingsOfHosts.includes(name)) ? [[name, sent] as const] : [],
  );
}

type Operation = ReturnType<typeof operationsOf>[number];

/** Returns the operations of a path, with ids of nothing, HEAD next to GET, in the order of `Allow`. */
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
      mayHaveBody: method !== 'GET', // `fetch` sends none with GET and HEAD
      /** A body that is taken. */
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
