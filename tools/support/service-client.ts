import type { Client, User } from './accounts.ts';

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope?: string;
}

/** A form's fields; as pairs where one is given twice. */
export type Form = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** The fields of a password grant. */
export function passwordGrant(client: Client, user: Pick<User, 'email' | 'password'>) {
  return {
    grant_type: 'password',
    client_id: client.clientId,
    client_secret: client.clientSecret,
    username: user.email,
    password: user.password,
  };
}

/** The fields of a refresh grant. */
export function refreshGrant(client: Client, refreshToken: string) {
  return {
    grant_type: 'refresh_token',
    client_id: client.clientId,
    client_secret: client.clientSecret,
    refresh_token: refreshToken,
  };
}

/** An answer of {base_url}, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where there is none. */
  readonly json: Record<string, unknown> | undefined;
}

/** The parts of a request to {base_url}. */
export interface ApiRequest {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON; a string or bytes are sent as they are, without a content type. */
  readonly body?: unknown;
}

/** A webhook as it is registered. */
export interface NewWebhook {
  readonly evento: string;
  readonly url: string;
  readonly autorizacao?: string;
}

/** Calls a running service over HTTP. */
export interface ServiceClient {
  /** POSTs a form to an endpoint of {auth_url}. */
  postForm(
    endpoint: 'token' | 'revoke' | 'introspect',
    form: Form,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Exchanges a grant for tokens. @throws when the token endpoint refuses it. */
  getTokens(form: Form): Promise<Tokens>;
  /** Sends a request to {base_url} and reads the answer. */
  callApi(method: string, path: string, request?: ApiRequest): Promise<Answer>;
  /** Registers a webhook. Gives its signing secret. @throws when the API refuses it. */
  register(token: string, webhook: NewWebhook): Promise<string>;
}

/** Makes a client of the service with these outputs. */
export function makeServiceClient({ AuthUrl, BaseUrl }: Record<'AuthUrl' | 'BaseUrl', string>): ServiceClient {
  return { postForm, getTokens, callApi, register };

  function postForm(endpoint: string, form: Form, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${AuthUrl}/oauth/v1/${endpoint}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
      body: new URLSearchParams(form as Record<string, string>).toString(),
    });
  }

  async function getTokens(form: Form): Promise<Tokens> {
    const response = await postForm('token', form);
    if (response.status !== 200) throw new Error(`Token endpoint: ${response.status} ${await response.text()}`);
    return (await response.json()) as Tokens;
  }

  async function callApi(method: string, path: string, { token, headers, body }: ApiRequest = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const json = body === undefined || isRaw ? undefined : JSON.stringify(body);
    const bytes =
      typeof body === 'string' ? new TextEncoder().encode(body) : (body as Uint8Array<ArrayBuffer> | undefined);
    const response = await fetch(`${BaseUrl}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: json ?? bytes }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  async function register(token: string, webhook: NewWebhook): Promise<string> {
    const answer = await callApi('POST', '/v1/webhooks', { token, body: webhook });
    if (answer.status !== 201) throw new Error(`Registering ${webhook.evento}: ${answer.status} ${answer.text}`);
    return String(answer.json?.segredo);
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
