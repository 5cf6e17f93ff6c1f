import { expect } from 'vitest';
import { type Client, createUser, logIn, type User } from './e2e-accounts.ts';
import { mapHost } from './e2e-receiver.ts';
import { baseUrl, plant, run } from './e2e-target.ts';

/** An answer of {base_url}, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where there is none. */
  readonly json: Record<string, unknown> | undefined;
}

/** What a request to {base_url} may bring along. */
export interface ApiRequest {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON; a string or bytes are sent as they are, without a content type. */
  readonly body?: unknown;
}

/** Sends a request to {base_url} and reads the answer. */
export async function callApi(
  method: string,
  path: string,
  { token, headers, body }: ApiRequest = {},
): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const json = body === undefined || isRaw ? undefined : JSON.stringify(body);
  const bytes =
    typeof body === 'string' ? new TextEncoder().encode(body) : (body as Uint8Array<ArrayBuffer> | undefined);
  const response = await fetch(`${baseUrl}${path}`, {
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

/** Expects a problem with the members that every one has here (RFC 9457 section 3.1). */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer).toMatchObject({ status, json: { status, code } });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.json).toMatchObject({
    type: expect.any(String),
    title: expect.any(String),
    detail: expect.any(String),
  });
}

/** An admin who is logged in. */
export interface Session {
  readonly user: User;
  readonly token: string;
}

/** Creates an admin (of an account of their own, unless told otherwise) and logs them in. */
export async function openSession(client: Client, options: Parameters<typeof createUser>[0] = {}): Promise<Session> {
  const user = await createUser(options);
  const { access_token } = await logIn(client, user);
  return { user, token: access_token };
}

/** Registers a webhook and gives its signing secret. */
export async function register(
  { token }: Session,
  webhook: { evento: string; url: string; autorizacao?: string },
): Promise<string> {
  if (webhook.autorizacao !== undefined) plant(webhook.autorizacao);
  const answer = await callApi('POST', '/v1/webhooks', { token, body: webhook });
  if (answer.status !== 201) throw new Error(`Registering ${webhook.evento}: ${answer.status} ${answer.text}`);
  return plant(String(answer.json?.segredo));
}

/** A public host that the run under test takes without looking it up on the real Internet. */
export async function publicHost(): Promise<string> {
  const address = '93.184.215.14';
  if (run.hostsFile === null) return address;
  await mapHost('public.example.com', [address]);
  return 'public.example.com';
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
