import * as z from 'zod/mini';
import { deliveryDetail } from '../delivery/representation.ts';
import { registeredWebhook, webhookList } from '../webhooks/answers.ts';
import type { webhookRecord } from '../webhooks/representation.ts';
import type { EventName } from '../webhooks/webhook.ts';

/** Who logs in. */
export interface Identity {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly username: string;
  readonly password: string;
}

/** The tokens of a login. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A delivery as `GET …/entregas/{id}` shows it. */
export type DeliveryDetail = z.infer<typeof deliveryDetail>;

/** A registered webhook, with the secret that its deliveries are signed with. */
export type Registered = z.infer<typeof registeredWebhook>;

/** The service as an integrator calls it: over HTTP, at its public URLs. All calls throw {@link UnexpectedAnswer}. */
export interface Service {
  logIn(identity: Identity, signal: AbortSignal): Promise<Tokens>;
  /** Ends the login. */
  revoke(identity: Identity, refreshToken: string, signal: AbortSignal): Promise<void>;
  listWebhooks(accessToken: string, signal: AbortSignal): Promise<readonly WebhookRecord[]>;
  /** `undefined` where the account has a webhook for that event. */
  register(accessToken: string, webhook: NewWebhook, signal: AbortSignal): Promise<Registered | undefined>;
  /** Deletes a webhook. One that does not exist counts as deleted. */
  deleteWebhook(accessToken: string, eventName: EventName, signal: AbortSignal): Promise<void>;
  /** `undefined` where there is no such delivery. */
  findDelivery(
    accessToken: string,
    eventName: EventName,
    id: string,
    signal: AbortSignal,
  ): Promise<DeliveryDetail | undefined>;
}

/** An answer that a service in order does not give, or none. The message quotes the service's own codes and nothing that was sent. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
  /** 0 where there was no answer. */
  readonly status: number;
  /** The `pointer` of each finding of a 422. */
  readonly pointers: readonly string[];

  constructor(status: number, message: string, pointers: readonly string[] = []) {
    super(message);
    this.status = status;
    this.pointers = pointers;
  }
}

/** Makes the client of a service. */
export function makeService({
  authUrl,
  baseUrl,
  fetch,
}: {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
}): Service {
  return { logIn, revoke, listWebhooks, register, deleteWebhook, findDelivery };

  async function logIn(identity: Identity, signal: AbortSignal): Promise<Tokens> {
    const { username, password } = identity;
    const answer = await postForm('token', { grant_type: 'password', ...client(identity), username, password }, signal);
    const { access_token: accessToken, refresh_token: refreshToken } = read(answer, 200, tokens);
    return { accessToken, refreshToken };
  }

  async function revoke(identity: Identity, refreshToken: string, signal: AbortSignal): Promise<void> {
    expectStatus(await postForm('revoke', { ...client(identity), token: refreshToken }, signal), 200);
  }

  async function listWebhooks(accessToken: string, signal: AbortSignal): Promise<readonly WebhookRecord[]> {
    return read(await callApi('GET', '/v1/webhooks', { accessToken, signal }), 200, webhookList).webhooks;
  }

  async function register(
    accessToken: string,
    webhook: NewWebhook,
    signal: AbortSignal,
  ): Promise<Registered | undefined> {
    const answer = await callApi('POST', '/v1/webhooks', { accessToken, signal, body: webhook });
    return answer.status === 409 ? undefined : read(answer, 201, registeredWebhook);
  }

  async function deleteWebhook(accessToken: string, eventName: EventName, signal: AbortSignal): Promise<void> {
    const answer = await callApi('DELETE', `/v1/webhooks/${eventName}`, { accessToken, signal });
    if (answer.status !== 404) expectStatus(answer, 204);
  }

  async function findDelivery(
    accessToken: string,
    eventName: EventName,
    id: string,
    signal: AbortSignal,
  ): Promise<DeliveryDetail | undefined> {
    const answer = await callApi('GET', `/v1/webhooks/${eventName}/entregas/${id}`, { accessToken, signal });
    return answer.status === 404 ? undefined : read(answer, 200, deliveryDetail);
  }

  function postForm(endpoint: string, form: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    return send(`${authUrl}/oauth/v1/${endpoint}`, signal, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    });
  }

  function callApi(method: string, path: string, { accessToken, signal, body }: ApiCall): Promise<Answer> {
    return send(`${baseUrl}${path}`, signal, {
      method,
      headers: {
        authorization: `Bearer ${accessToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function send(url: string, signal: AbortSignal, request: RequestInit): Promise<Answer> {
    const call = `${request.method} ${new URL(url).pathname}`;
    const timeout = AbortSignal.timeout(callTimeoutMs);
    try {
      const response = await fetch(url, { ...request, redirect: 'error', signal: AbortSignal.any([signal, timeout]) });
      return { call, status: response.status, json: parseJson(await response.text()) };
    } catch (error) {
      if (signal.aborted) throw error;
      const why = timeout.aborted ? `within ${callTimeoutMs / 1_000} s` : `(${codeOf(error)})`;
      throw new UnexpectedAnswer(0, `${call} was not answered ${why} by ${new URL(url).host}`);
    }
  }
}

/** A webhook as it is registered. */
interface NewWebhook {
  readonly evento: EventName;
  readonly url: string;
  readonly autorizacao: string;
}

/** A webhook as `GET /v1/webhooks` shows it. */
type WebhookRecord = z.infer<typeof webhookRecord>;

/** The platform's `fetch`, or a test's. */
export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

/** An answer of the service, read. */
interface Answer {
  /** Method and path. */
  readonly call: string;
  readonly status: number;
  readonly json: unknown;
}

interface ApiCall {
  readonly accessToken: string;
  readonly signal: AbortSignal;
  readonly body?: object;
}

/** Longer than the gateway waits for a function that starts. In milliseconds. */
const callTimeoutMs = 30_000;

/** The system's or OpenSSL's code for a failed request; `fetch` has it in the cause. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'no connection';
}

function client({ clientId, clientSecret }: Identity) {
  return { client_id: clientId, client_secret: clientSecret };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read<Schema extends z.ZodMiniType>(answer: Answer, status: number, schema: Schema): z.output<Schema> {
  expectStatus(answer, status);
  const result = schema.safeParse(answer.json);
  if (result.success) return result.data;
  const fields = result.error.issues.map(issue => issue.path.join('.')).join(', ');
  throw new UnexpectedAnswer(answer.status, `${answer.call} answered ${status} with another content: ${fields}`);
}

/** Whatever else the answer says may quote what was sent, and is left out. */
function expectStatus({ call, status, json }: Answer, expected: number): void {
  if (status === expected) return;
  const { data = {} } = refusal.safeParse(json);
  const code = data.code ?? data.error;
  const findings = (data.errors ?? []).map(finding => `${finding.pointer ?? ''} ${finding.code}`.trim());
  const why = [code, ...findings].filter(text => text !== undefined).join(', ');
  const pointers = (data.errors ?? []).flatMap(({ pointer }) => pointer ?? []);
  throw new UnexpectedAnswer(status, `${call} answered ${status}${why === '' ? '' : ` (${why})`}`, pointers);
}

const word = z.string().check(z.regex(/^[\w./-]{1,100}$/));

/** The codes of a refusal: OAuth's `error`, or those of problem details. */
const refusal = z.object({
  error: z.optional(word),
  code: z.optional(word),
  errors: z.optional(z.array(z.object({ code: word, pointer: z.optional(word) }))),
});

const tokens = z.object({ access_token: z.string(), refresh_token: z.string() });
