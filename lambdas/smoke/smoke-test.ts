import * as z from 'zod/mini';
import { smokeAccount } from '../auth/principals/account.ts';
import { deliveryIdOf, smokeTestIdLength } from '../delivery/intake/event.ts';
import { businessEvents } from '../delivery/intake/event-catalogue.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { type Time, withDeadline } from '../platform/timer.ts';

/** The credentials of the client and the user that log in. */
export type Identity = Readonly<z.infer<typeof identitySchema>>;

export interface SmokeEffects extends Pick<Time, 'elapsed' | 'after' | 'pause'> {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly receiverUrl: string;
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
  readonly readIdentity: () => Promise<Identity>;
  /** Sends a message to the events queue, in the group of the account. */
  readonly publish: (message: string, accountId: string) => Promise<void>;
  readonly makeId: MakeId;
  /** Describes an error that an effect threw, without secrets. */
  readonly describeError: (error: unknown) => string;
  readonly onStep: (step: Step) => void;
}

/** A step that succeeded. */
export interface Step {
  readonly name: keyof typeof hints;
  readonly durationMs: number;
}

/** The outcome of a smoke test. It contains no secret. */
export interface SmokeResult {
  readonly steps: readonly Step[];
  /** The failed step, or `undefined` if the test passed. */
  readonly failure: { readonly step: Step['name']; readonly reason: string; readonly hint: string } | undefined;
  readonly durationMs: number;
  /** The id of the delivery, or `undefined` if no event was published. */
  readonly deliveryId: string | undefined;
}

/** The reason why a test failed. Its message contains no secret and is shown unchanged. */
export class SmokeError extends Error {
  override readonly name = 'SmokeError';
}

/** The time limits in milliseconds. `maxDeletionMs` applies to the deletion of the webhook, `maxStepsMs` to all other steps. */
export const maxStepsMs = 120_000;
export const maxDeletionMs = 30_000;

/**
 * Runs a smoke test. It logs in, registers a webhook, publishes an event and waits until the event is delivered. It always deletes the
 * webhook and never throws. All tests use the same event, so one of two concurrent tests may fail.
 *
 * @param signal - aborts the test. The result contains the reason for the abort.
 */
export async function runSmokeTest(effects: SmokeEffects, signal: AbortSignal): Promise<SmokeResult> {
  const { elapsed, after, describeError, onStep } = effects;
  const startedAt = elapsed();
  const steps: Step[] = [];
  let failure: SmokeResult['failure'];
  let deliveryId: string | undefined;
  let removeWebhook: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  await runSteps().catch(() => undefined); // `failure` contains the reason
  if (removeWebhook) {
    const work = withDeadline(after, maxDeletionMs, removeWebhook);
    await runStep('delete webhook', () => work).catch(() => undefined);
  }
  return { steps, failure, durationMs: Math.round(elapsed() - startedAt), deliveryId };

  async function runSteps(): Promise<void> {
    const identity = await runStep('identity', () => unlessAborted(effects.readIdentity(), signal));
    const token = await runStep('token', () => logIn(effects, identity, signal));
    const callApi = makeCallApi(effects, token);
    removeWebhook = limit => callApi('DELETE', webhookPath, limit);
    await runStep('clean up', () => callApi('DELETE', webhookPath, signal)); // a crashed test may have left a webhook
    const webhook = { evento: eventName, url: effects.receiverUrl };
    await runStep('register', () => callApi('POST', '/v1/webhooks', signal, webhook));
    const id = effects.makeId(smokeTestIdLength);
    deliveryId = deliveryIdOf(smokeAccount, eventName, id);
    await runStep('publish', () => unlessAborted(effects.publish(messageOf(id), smokeAccount), signal));
    const path = `${webhookPath}/entregas/${deliveryId}`;
    await runStep('receive', () => untilDelivered(() => callApi('GET', path, signal), effects, signal));
  }

  async function runStep<Value>(name: Step['name'], work: () => Promise<Value>): Promise<Value> {
    const stepStartedAt = elapsed();
    try {
      const value = await work();
      const step = { name, durationMs: Math.round(elapsed() - stepStartedAt) };
      steps.push(step);
      onStep(step);
      return value;
    } catch (error) {
      const reason = error instanceof SmokeError ? error.message : describeError(error);
      failure ??= { step: name, reason, hint: hints[name] };
      throw error;
    }
  }
}

/**
 * Parses the stored identity of a stage.
 *
 * @throws {SmokeError} if the identity is malformed. This error replaces the parser's error, which could quote a secret.
 */
export function parseIdentity(stored: string): Identity {
  const identity = parseJson(identitySchema, stored);
  if (identity) return identity;
  throw new SmokeError('the parameter is malformed. Replace its client and user with "smoke rotate-credentials"');
}

const eventName = 'demanda.criada';
const webhookPath = `/v1/webhooks/${eventName}`;
const pollIntervalMs = 500;

const webhooksLog =
  'the log of the webhooks API (saved queries "webhooks/internal errors" for a 5xx, "webhooks/refused requests" otherwise) and the alarm RequestsFail';

/** Logs and resources to check after a failed step. */
const hints = {
  identity:
    'the parameter in the output SmokeCredentialsParameter, the tables of clients and users, and your AWS credentials',
  token:
    'the log of the token function (saved queries "auth/internal errors" for a 5xx, "auth/refused tokens" otherwise) and the alarm RequestsFail',
  'clean up': webhooksLog,
  register: `the receiver's URL (it must be public, use https, and not be a host of Emissor) and ${webhooksLog}`,
  publish: 'the events queue, and the permission of the caller for sqs:SendMessage',
  receive:
    'the delivery ("deliveries show" with its id), the log of DeliverFirst (saved query "delivery/internal errors"), the alarm EventsStuck, and the dead-letter queue ("dlq list")',
  'delete webhook': `${webhooksLog}; the next test deletes the webhook`,
} as const;

function messageOf(id: string): string {
  const message = businessEvents.message(eventName, { id_conta: smokeAccount, id }, businessEvents.exampleValues);
  return JSON.stringify(message);
}

async function logIn(effects: SmokeEffects, identity: Identity, signal: AbortSignal): Promise<string> {
  const { clientId: client_id, clientSecret: client_secret, username, password } = identity;
  const form = { grant_type: 'password', client_id, client_secret, username, password };
  const response = await send(effects, `${effects.authUrl}/oauth/v1/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    signal,
  });
  return read(tokenSchema, response).access_token;
}

type CallApi = (method: string, path: string, signal: AbortSignal, body?: object) => Promise<ApiResponse>;

function makeCallApi(effects: SmokeEffects, token: string): CallApi {
  return (method, path, signal, body) =>
    send(effects, `${effects.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
}

/** Waits for the delivery. @throws {SmokeError} if the delivery can no longer succeed or the signal aborts first. */
async function untilDelivered(
  readDelivery: () => Promise<ApiResponse>,
  { pause }: SmokeEffects,
  signal: AbortSignal,
): Promise<void> {
  let state = 'no attempt is recorded: the message may still be in the events queue';
  try {
    for (;;) {
      const response = await readDelivery();
      if (response.status !== 404) {
        const delivery = read(deliverySchema, response);
        if (delivery.estado === 'entregue') return;
        state = describeDelivery(delivery);
        if (delivery.estado !== 'pendente') throw new SmokeError(state);
      }
      await pause(pollIntervalMs, signal);
    }
  } catch (error) {
    if (signal.aborted) throw new SmokeError(`${reasonOf(signal)}; ${state}`);
    throw error;
  }
}

function describeDelivery({ estado, tentativas }: z.infer<typeof deliverySchema>): string {
  const latest = tentativas.at(-1);
  if (!latest) return `the delivery is ${estado}, and no attempt is recorded`;
  const outcome = [latest.resultado, latest.detalhe, latest.status].filter(part => part !== null).join(' ');
  return `the delivery is ${estado}: its last attempt ended with ${outcome}`;
}

interface ApiResponse {
  /** The method and the path. */
  readonly call: string;
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a request. A 404 for a webhook or delivery is a valid response.
 *
 * @throws {SmokeError} for other failures. It quotes only the service's codes, because the rest of a response may repeat a secret.
 */
async function send(
  { fetch }: SmokeEffects,
  url: string,
  request: RequestInit & { readonly signal: AbortSignal },
): Promise<ApiResponse> {
  const { host, pathname } = new URL(url);
  const call = `${request.method} ${pathname}`;
  let result: ApiResponse;
  try {
    const response = await fetch(url, { ...request, redirect: 'error' });
    result = { call, status: response.status, text: await response.text() };
  } catch (error) {
    const reason = request.signal.aborted ? reasonOf(request.signal) : codeOf(error);
    throw new SmokeError(`${call} got no response from ${host} (${reason})`);
  }
  const { status, text } = result;
  if ((status >= 200 && status < 300) || (status === 404 && request.method !== 'POST')) return result;
  const { error, code, errors = [] } = parseJson(errorSchema, text) ?? {};
  const codes = [error, code, ...errors.flatMap(finding => [finding.pointer, finding.code])].filter(Boolean).join(' ');
  throw new SmokeError(`${call} returned ${status}${codes === '' ? '' : ` (${codes})`}`);
}

function read<Schema extends z.ZodMiniType>(schema: Schema, { call, status, text }: ApiResponse): z.output<Schema> {
  const value = parseJson(schema, text);
  if (value !== undefined) return value;
  throw new SmokeError(`${call} returned ${status} with unexpected content`);
}

function parseJson<Schema extends z.ZodMiniType>(schema: Schema, text: string): z.output<Schema> | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the system or OpenSSL error code of a failed request, which is in the cause of `fetch` errors. */
function codeOf(error: unknown): string {
  const { code }: { readonly code?: unknown } = Object(error instanceof Error ? error.cause : undefined);
  return typeof code === 'string' ? code : 'no connection';
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof SmokeError ? reason.message : 'timed out';
}

/** Waits for work that cannot be aborted. If the signal aborts, stops waiting while the work continues. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new SmokeError(reasonOf(signal)));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

const identitySchema = z.object({
  clientId: z.string(),
  clientSecret: z.string(),
  username: z.string(),
  password: z.string(),
});

const tokenSchema = z.object({ access_token: z.string() });

const deliverySchema = z.object({
  estado: z.string(),
  tentativas: z.array(
    z.object({ resultado: z.string(), detalhe: z.nullable(z.string()), status: z.nullable(z.number()) }),
  ),
});

const word = z.string().check(z.regex(/^[\w./-]{1,100}$/));

/** The codes of an error response, which is an OAuth error or problem details. */
const errorSchema = z.object({
  error: z.optional(word),
  code: z.optional(word),
  errors: z.optional(z.array(z.object({ code: word, pointer: z.optional(word) }))),
});
