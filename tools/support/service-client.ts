import * as z from 'zod';
import type { Client, User } from './accounts.ts';

export type Tokens = z.output<typeof tokensSchema>;

export function passwordGrant(client: Client, user: Pick<User, 'email' | 'password'>) {
  return { grant_type: 'password', ...credentialsOf(client), username: user.email, password: user.password };
}

export function refreshGrant(client: Client, refreshToken: string) {
  return { grant_type: 'refresh_token', ...credentialsOf(client), refresh_token: refreshToken };
}

export interface NewWebhook {
  readonly evento: string;
  readonly url: string;
  readonly autorizacao?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or `undefined` if it is not JSON. */
  readonly json: Record<string, unknown> | undefined;
}

/** The fields of a form. Pairs can repeat a field. */
export type Form = Readonly<Record<string, string>> | readonly [string, string][];

interface ApiRequest {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. The client sends strings and bytes unchanged without a content type, and other values as JSON. */
  readonly body?: unknown;
}

/** Creates a client for the service with these outputs. */
export function makeServiceClient({ AuthUrl, BaseUrl }: Record<'AuthUrl' | 'BaseUrl', string>) {
  return { postForm, getTokens, callApi, register };

  /** POSTs a form to an endpoint of {auth_url}. */
  function postForm(
    endpoint: 'token' | 'revoke' | 'introspect',
    form: Form,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiResponse> {
    return send(`${AuthUrl}/oauth/v1/${endpoint}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
      body: new URLSearchParams(form).toString(),
    });
  }

  /** Sends a request to {base_url}. */
  function callApi(method: string, path: string, { token, headers, body }: ApiRequest = {}): Promise<ApiResponse> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const json = body === undefined || isRaw ? undefined : JSON.stringify(body);
    const bytes = body instanceof Uint8Array ? new Uint8Array(body) : new TextEncoder().encode(`${body}`);
    return send(`${BaseUrl}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: json ?? bytes }),
    });
  }

  /** Exchanges a grant for tokens. @throws if the token endpoint rejects it */
  async function getTokens(form: Form): Promise<Tokens> {
    const { status, text, json } = await postForm('token', form);
    if (status !== 200) throw new Error(`The token endpoint returned ${status}: ${text}`);
    return tokensSchema.parse(json);
  }

  /** Registers a webhook and returns its signing secret. @throws if the API rejects it */
  async function register(token: string, webhook: NewWebhook): Promise<string> {
    const { status, text, json } = await callApi('POST', '/v1/webhooks', { token, body: webhook });
    if (status !== 201) throw new Error(`Registering ${webhook.evento} failed: ${status} ${text}`);
    return String(json?.segredo);
  }
}

function credentialsOf({ clientId, clientSecret }: Client) {
  return { client_id: clientId, client_secret: clientSecret };
}

async function send(url: string, request: RequestInit): Promise<ApiResponse> {
  const signal = AbortSignal.timeout(30_000); // the gateway also waits 30 s for a function
  const response = await fetch(url, { ...request, redirect: 'error', signal });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parseJson(text) };
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.string(),
  expires_in: z.number(),
  /** Empty if the client may not refresh. */
  refresh_token: z.string().default(''),
  scope: z.string().optional(),
});
