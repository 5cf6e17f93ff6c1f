import type { DeliveryDetail } from '../../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../../lambdas/webhooks/representation.ts';

export const service = { authUrl: 'https://auth.example.com', baseUrl: 'https://api.example.com' };

export interface Call {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

type Reply = { readonly status?: number; readonly json?: unknown; readonly headers?: Record<string, string> };

/** The replies by request, such as `GET /v1/webhooks`, without the query. A function may throw, as `fetch` does. */
export type Replies = Readonly<Record<string, Reply | ((call: Call) => Reply)>>;

/** Creates a fake of the service. Sign-ins succeed. A request without a reply in `replies` returns 404. */
export function makeService(replies: Replies = {}) {
  const calls: Call[] = [];
  let issued = 0;
  const defaults: Replies = {
    'POST /oauth/v1/token': () => ({ json: tokens({ jti: String(issued++) }) }),
    'POST /oauth/v1/revoke': {},
    'GET /v1/webhooks': { json: { webhooks: [], eventos_sem_webhook: [] } },
  };
  const all: Record<string, Replies[string]> = { ...defaults, ...replies };
  return {
    calls,
    replies: all,
    count: (pattern: RegExp) => calls.filter(({ method, path }) => pattern.test(`${method} ${path}`)).length,
    ...service,
    fetch: async (url: string, { method = 'GET', headers, body }: RequestInit) => {
      const { origin, pathname, search } = new URL(url);
      const call = { method, origin, path: pathname + search, headers: new Headers(headers), body: String(body ?? '') };
      calls.push(call);
      const reply = all[`${method} ${pathname}`] ?? problem(404, 'not_found');
      const { status = 200, json, headers: more = {} } = typeof reply === 'function' ? reply(call) : reply;
      return new Response(json === undefined ? null : JSON.stringify(json), { status, headers: more });
    },
  };
}

export const credentials = { client_id: 'client', client_secret: 'canary-1', username: 'a@b.c', password: 'canary-2' };

/** Returns a token response for an admin of the account `acme`. `claims` overrides the default claims. */
export function tokens(claims: object = {}, refreshToken: string | undefined = 'the-refresh-token') {
  const all = { sub: 'u1', account_id: 'acme', scope: 'webhooks:read webhooks:manage', ...claims };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return { access_token: `${part({ alg: 'ES256' })}.${part(all)}.sig`, refresh_token: refreshToken };
}

export function unanswered(code: string): never {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
}

export function problem(status: number, code: string, more: Readonly<Record<string, unknown>> = {}): Reply {
  return { status, json: { status, code, title: code, detail: `Rejected: ${code}.`, requisicao: 'req-1', ...more } };
}

export function webhook(changes: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    evento: 'demanda.criada',
    url: 'https://hooks.example.com/a',
    autorizacao_definida: false,
    estado: 'ativo',
    motivo_suspensao: null,
    falhando_desde: null,
    lento_desde: null,
    segredos_anteriores: [],
    criado_em: '2026-11-01T00:00:00.000Z',
    atualizado_em: '2026-11-01T00:00:00.000Z',
    ...changes,
  };
}

export function delivery(changes: Partial<DeliveryDetail> = {}): DeliveryDetail {
  return {
    id: `evt_${'a'.repeat(27)}`,
    estado: 'entregue',
    criado_em: '2026-11-28T10:00:00.000Z',
    proxima_tentativa_em: null,
    ultimo_resultado: 'entregue',
    ultimo_status: 200,
    corpo: '{"event":"demanda.criada","id_demanda":4711}',
    tentativas: [],
    ...changes,
  };
}

type Attempt = DeliveryDetail['tentativas'][number];

export function attempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    numero: 1,
    iniciada_em: '2026-11-28T10:00:01.000Z',
    duracao_ms: 12,
    resultado: 'entregue',
    detalhe: null,
    status: 200,
    resposta: '',
    ...changes,
  };
}

/** Returns a list of deliveries. In lists, `tentativas` is the number of attempts. */
export function list(deliveries: readonly DeliveryDetail[], next: string | null = null): Reply {
  const entregas = deliveries.map(({ corpo: _, tentativas, ...rest }) => ({ ...rest, tentativas: tentativas.length }));
  return { json: { entregas, proximo_cursor: next } };
}
