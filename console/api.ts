import type { DeliveryDetail, DeliveryRecord } from '../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../lambdas/webhooks/representation.ts';

export interface Service {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
}

export type Credentials = Readonly<Record<'client_id' | 'client_secret' | 'username' | 'password', string>>;

/** The tokens from a sign-in, and the client credentials to refresh them. The password is not stored. */
export interface Login {
  readonly client: Pick<Credentials, 'client_id' | 'client_secret'>;
  accessToken: string;
  refreshToken: string | undefined;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly findings: readonly { readonly field: string; readonly detail: string }[];
  readonly replayId: string | undefined;
  readonly retryAfter: string | null;
  readonly requisicao: unknown;

  constructor({ status, json, headers }: ApiResponse) {
    super(String(json?.detail ?? json?.error_description ?? `HTTP ${status}`));
    this.requisicao = json?.requisicao;
    this.status = status;
    this.code = String(json?.code ?? json?.error ?? '');
    const errors: readonly Record<string, string>[] = Array.isArray(json?.errors) ? json.errors : [];
    this.findings = errors.map(({ pointer, parameter = pointer?.slice(1) ?? '', detail = '' }) => ({
      field: parameter,
      detail,
    }));
    this.replayId = /\/reenvios\/([^/]+)$/.exec(headers.get('location') ?? '')?.[1];
    this.retryAfter = headers.get('retry-after');
  }
}

export class NoResponse extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`The service did not respond. ${code}`.trim());
    this.code = code;
  }
}

export class SessionEnded extends Error {}

/** Signs in with the password grant (RFC 6749, section 4.3). @throws {ApiError} if the service rejects the credentials. */
export async function signIn(service: Service, credentials: Credentials): Promise<Login> {
  const response = await postForm(service, 'token', { grant_type: 'password', ...credentials });
  if (response.status !== 200) throw new ApiError(response);
  const { client_id, client_secret } = credentials;
  return { client: { client_id, client_secret }, ...tokensIn(response) };
}

export async function revoke(service: Service, login: Login): Promise<void> {
  await postForm(service, 'revoke', { ...login.client, token: login.refreshToken ?? login.accessToken });
}

/** Returns the claims in the access token without verifying the token. The API verifies it in every call. */
export function claimsOf({ accessToken }: Pick<Login, 'accessToken'>): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

export type Api = ReturnType<typeof createApi>;

/** Creates an API client that updates expired tokens in `login`. Concurrent calls share `refreshes`, because a refresh token works once. */
export function createApi(
  service: Service,
  login: Login,
  { language, refreshes }: { language: string; refreshes: WeakMap<Login, Promise<void>> },
) {
  const get = <Body>(path: string) => send<Body>('GET', path);
  return {
    listWebhooks: () => get<WebhookList>('/v1/webhooks'),
    findWebhook: (event: string) => orUndefined(get<WebhookRecord>(pathOf(event))),
    register: (event: string, settings: Settings) =>
      send<{ segredo: string }>('POST', '/v1/webhooks', { evento: event, ...settings }),
    change: (event: string, settings: Settings) => send<WebhookRecord>('PUT', pathOf(event), settings),
    remove: (event: string) => send('DELETE', pathOf(event)),
    test: (event: string) => send<{ id: string }>('POST', `${pathOf(event)}/teste`),
    replaceSecret: (event: string, imediato: boolean) =>
      send<{ segredo: string }>('POST', `${pathOf(event)}/segredo`, { imediato }),
    reactivate: (event: string) => send('POST', `${pathOf(event)}/reativacao`),
    /** Lists deliveries, newest first. Returns an empty list if the event has neither a webhook nor a history. */
    listDeliveries: async (
      event: string,
      query: Readonly<Record<string, string | number | undefined>>,
    ): Promise<DeliveryList> => {
      const parameters = new URLSearchParams(JSON.parse(JSON.stringify(query))); // omits undefined values
      const path = `${pathOf(event)}/entregas?${parameters}`;
      return (await orUndefined(get<DeliveryList>(path))) ?? { entregas: [], proximo_cursor: null };
    },
    findDelivery: (event: string, id: string) =>
      orUndefined(get<DeliveryDetail>(`${pathOf(event)}/entregas/${segmentOf(id)}`)),
    resend: (event: string, id: string) => send('POST', `${pathOf(event)}/entregas/${segmentOf(id)}/reenvio`),
    replay: (event: string, range: { desde: string; ate: string; estado: string }) =>
      send<{ id: string }>('POST', `${pathOf(event)}/reenvios`, range),
    findReplay: (event: string, id: string) => orUndefined(get<Replay>(`${pathOf(event)}/reenvios/${segmentOf(id)}`)),
    cancelReplay: (event: string, id: string) => send('DELETE', `${pathOf(event)}/reenvios/${segmentOf(id)}`),
  };

  async function send<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const token = login.accessToken;
    let response = await call(token);
    if (response.status === 401) {
      if (token === login.accessToken) await refreshOnce();
      response = await call(login.accessToken);
      if (response.status === 401) throw new SessionEnded();
    }
    if (response.status >= 300) throw new ApiError(response);
    return response.json as Body;

    function call(bearer: string): Promise<ApiResponse> {
      const json = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${bearer}`,
        'accept-language': language,
        ...(json !== undefined && { 'content-type': 'application/json' }),
      };
      return request(service, service.baseUrl + path, { method, headers, ...(json !== undefined && { body: json }) });
    }
  }

  function refreshOnce(): Promise<void> {
    const refreshing = refreshes.get(login) ?? refresh().finally(() => refreshes.delete(login));
    refreshes.set(login, refreshing);
    return refreshing;
  }

  async function refresh(): Promise<void> {
    const { client, refreshToken } = login;
    if (refreshToken === undefined) throw new SessionEnded();
    const form = { grant_type: 'refresh_token', ...client, refresh_token: refreshToken };
    // If the response is lost, the service may have replaced the token and would treat a second use as theft.
    login.refreshToken = undefined;
    const response = await postForm(service, 'token', form).catch(error => {
      if (error instanceof NoResponse && unsentCodes.has(error.code)) login.refreshToken = refreshToken;
      throw error;
    });
    if (response.status === 400 || response.status === 401) throw new SessionEnded();
    if (response.status === 429) login.refreshToken = refreshToken;
    if (response.status !== 200) throw new ApiError(response);
    Object.assign(login, tokensIn(response));
  }
}

export interface WebhookList {
  readonly webhooks: readonly WebhookRecord[];
  readonly eventos_sem_webhook: readonly { readonly evento: string; readonly ultimo_em: string }[];
}

export interface DeliveryList {
  readonly entregas: readonly DeliveryRecord[];
  readonly proximo_cursor: string | null;
}

/** The settings of a webhook. Without `autorizacao`, the API removes an existing Authorization header. */
export interface Settings {
  readonly url: string;
  readonly autorizacao?: string;
}

export interface Replay {
  readonly id: string;
  readonly estado: string;
  readonly enviadas: number;
}

interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** The timeout for a call in milliseconds. It exceeds the integration timeout of API Gateway. */
const callTimeout = 31_000;

/** The error codes for requests that did not reach the service, for example because the computer was offline. */
const unsentCodes = new Set(
  'ENOTFOUND EAI_AGAIN ECONNREFUSED ENETUNREACH EHOSTUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
);

function postForm(service: Service, endpoint: string, form: Record<string, string>): Promise<ApiResponse> {
  return request(service, `${service.authUrl}/oauth/v1/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
}

async function request({ fetch }: Service, url: string, init: RequestInit): Promise<ApiResponse> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(callTimeout) });
    return { status: response.status, headers: response.headers, json: parseObject(await response.text()) };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    throw new NoResponse(cause instanceof Error && 'code' in cause ? String(cause.code) : '');
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the tokens in a response. @throws {ApiError} if there are none, for example because the URL is wrong. */
function tokensIn(response: ApiResponse): Pick<Login, 'accessToken' | 'refreshToken'> {
  const { access_token, refresh_token } = response.json ?? {};
  if (typeof access_token !== 'string' || access_token.split('.').length !== 3)
    throw new ApiError({ ...response, json: { code: 'no_token' } });
  return { accessToken: access_token, refreshToken: typeof refresh_token === 'string' ? refresh_token : undefined };
}

function pathOf(event: string): string {
  return `/v1/webhooks/${segmentOf(event)}`;
}

/** Encodes a path segment. Replaces empty names, `.` and `..` with a space, because they change the path even if encoded. */
function segmentOf(name: string): string {
  return /^\.{0,2}$/.test(name) ? '%20' : encodeURIComponent(name);
}

async function orUndefined<Value>(call: Promise<Value>): Promise<Value | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
