import type { DeliveryDetail, DeliveryRecord } from '../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../lambdas/webhooks/representation.ts';

export interface Service {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
}

export type Credentials = Readonly<Record<'client_id' | 'client_secret' | 'username' | 'password', string>>;

/** The tokens of one login, with the client that refreshes them. The password is not stored. */
export interface Login {
  readonly client: Pick<Credentials, 'client_id' | 'client_secret'>;
  accessToken: string;
  refreshToken: string | undefined;
}

/** A request that the API rejected. Its message is shown unchanged. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly findings: readonly { readonly field: string; readonly detail: string }[];
  /** The replay in `Location`. */
  readonly replayId: string | undefined;
  readonly retryAfter: string | null;
  readonly requisicao: unknown;

  constructor({ status, json, headers }: Answer) {
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

/** The service did not respond. `code` is the error code of the system, such as `ECONNREFUSED`. */
export class NoAnswer extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`The service did not answer. ${code}`.trim());
    this.code = code;
  }
}

/** The service no longer accepts the tokens, and the user must sign in again. */
export class SessionEnded extends Error {}

/** Signs in by the password grant (RFC 6749 4.3). @throws {Refusal} if the service rejects the credentials. */
export async function signIn(service: Service, credentials: Credentials): Promise<Login> {
  const answer = await postForm(service, 'token', { grant_type: 'password', ...credentials });
  if (answer.status !== 200) throw new Refusal(answer);
  const { client_id, client_secret } = credentials;
  return { client: { client_id, client_secret }, ...tokensIn(answer) };
}

export async function revoke(service: Service, login: Login): Promise<void> {
  await postForm(service, 'revoke', { ...login.client, token: login.refreshToken ?? login.accessToken });
}

/** Returns the claims of our own token. The API verifies it. Here it only determines the account and the scope. */
export function claimsOf({ accessToken }: Pick<Login, 'accessToken'>): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

export type Api = ReturnType<typeof makeApi>;

/**
 * Creates the API client of a login. It refreshes an expired access token and changes the login in place. `refreshes`
 * contains the calls in flight, since only one of several concurrent calls may use the refresh token.
 */
export function makeApi(
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
    /** Lists deliveries, newest first. Without a webhook and a history, the list is empty. */
    listDeliveries: async (
      event: string,
      query: Readonly<Record<string, string | number | undefined>>,
    ): Promise<DeliveryList> => {
      const given = new URLSearchParams(JSON.parse(JSON.stringify(query))); // without undefined values
      const path = `${pathOf(event)}/entregas?${given}`;
      return (await orUndefined(get<DeliveryList>(path))) ?? { entregas: [], proximo_cursor: null };
    },
    findDelivery: (event: string, id: string) =>
      orUndefined(get<DeliveryDetail>(`${pathOf(event)}/entregas/${stepOf(id)}`)),
    resend: (event: string, id: string) => send('POST', `${pathOf(event)}/entregas/${stepOf(id)}/reenvio`),
    replay: (event: string, range: { desde: string; ate: string; estado: string }) =>
      send<{ id: string }>('POST', `${pathOf(event)}/reenvios`, range),
    findReplay: (event: string, id: string) => orUndefined(get<Replay>(`${pathOf(event)}/reenvios/${stepOf(id)}`)),
    cancelReplay: (event: string, id: string) => send('DELETE', `${pathOf(event)}/reenvios/${stepOf(id)}`),
  };

  async function send<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const token = login.accessToken;
    let answer = await call(token);
    if (answer.status === 401) {
      if (token === login.accessToken) await refreshOnce();
      answer = await call(login.accessToken);
      if (answer.status === 401) throw new SessionEnded();
    }
    if (answer.status >= 300) throw new Refusal(answer);
    return answer.json as Body;

    function call(bearer: string): Promise<Answer> {
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
    // If the response is lost, the token may have been replaced. A second use could count as theft.
    login.refreshToken = undefined;
    const answer = await postForm(service, 'token', form).catch(error => {
      if (error instanceof NoAnswer && unsentCodes.has(error.code)) login.refreshToken = refreshToken;
      throw error;
    });
    if (answer.status === 400 || answer.status === 401) throw new SessionEnded();
    if (answer.status === 429) login.refreshToken = refreshToken;
    if (answer.status !== 200) throw new Refusal(answer);
    Object.assign(login, tokensIn(answer));
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

/** If `autorizacao` is missing, an existing header is removed. */
export interface Settings {
  readonly url: string;
  readonly autorizacao?: string;
}

export interface Replay {
  readonly id: string;
  readonly estado: string;
  readonly enviadas: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** Longer than API Gateway waits for a function. In milliseconds. */
const callTimeout = 31_000;

/** The error codes of requests that were not sent, for example when a laptop wakes up before its network. */
const unsentCodes = new Set(
  'ENOTFOUND EAI_AGAIN ECONNREFUSED ENETUNREACH EHOSTUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
);

function postForm(service: Service, endpoint: string, form: Record<string, string>): Promise<Answer> {
  return request(service, `${service.authUrl}/oauth/v1/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
}

async function request({ fetch }: Service, url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(callTimeout) });
    return { status: response.status, headers: response.headers, json: parseObject(await response.text()) };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    throw new NoAnswer(cause instanceof Error && 'code' in cause ? String(cause.code) : '');
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

/** Returns the tokens of a response. @throws {Refusal} if it is not from a token endpoint, as with a wrong address. */
function tokensIn(answer: Answer): Pick<Login, 'accessToken' | 'refreshToken'> {
  const { access_token, refresh_token } = answer.json ?? {};
  if (typeof access_token !== 'string' || access_token.split('.').length !== 3)
    throw new Refusal({ ...answer, json: { code: 'no_token' } });
  return { accessToken: access_token, refreshToken: typeof refresh_token === 'string' ? refresh_token : undefined };
}

function pathOf(event: string): string {
  return `/v1/webhooks/${stepOf(event)}`;
}

/** Encodes a segment of a path. `.` and `..` would change the path in any encoding, and no resource has these names. */
function stepOf(name: string): string {
  return /^\.{0,2}$/.test(name) ? '%20' : encodeURIComponent(name);
}

async function orUndefined<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}
