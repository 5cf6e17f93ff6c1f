import * as z from 'zod/mini';
import { deliveryDetail } from '../delivery/representation.ts';
import { registeredWebhook, webhookList } from '../webhooks/answers.ts';
import type { EventName } from '../webhooks/webhook.ts';
import { type Answer, makeServiceClient, type ServiceAddress, UnexpectedAnswer } from './service-client.ts';

/** Makes the calls of a smoke test. All throw {@link UnexpectedAnswer} for what a service in order does not answer. */
export function makeService(address: ServiceAddress) {
  const { postForm, callApi } = makeServiceClient(address);
  return { logIn, revoke, listWebhooks, register, deleteWebhook, findDelivery };

  async function logIn(identity: Identity, signal: AbortSignal): Promise<Tokens> {
    const { username, password } = identity;
    const form = { grant_type: 'password', ...clientOf(identity), username, password };
    const answer = await postForm('token', form, { signal });
    const { access_token: accessToken, refresh_token: refreshToken } = read(answer, 200, tokens);
    return { accessToken, refreshToken };
  }

  /** Ends the login. */
  async function revoke(identity: Identity, refreshToken: string, signal: AbortSignal): Promise<void> {
    expectStatus(await postForm('revoke', { ...clientOf(identity), token: refreshToken }, { signal }), 200);
  }

  async function listWebhooks(token: string, signal: AbortSignal) {
    return read(await callApi('GET', '/v1/webhooks', { token, signal }), 200, webhookList).webhooks;
  }

  /** Registers a webhook. `undefined` where the account has one for that event. */
  async function register(token: string, webhook: NewWebhook, signal: AbortSignal): Promise<Registered | undefined> {
    const answer = await callApi('POST', '/v1/webhooks', { token, signal, body: webhook });
    return answer.status === 409 ? undefined : read(answer, 201, registeredWebhook);
  }

  /** Deletes a webhook. One that does not exist counts as deleted. */
  async function deleteWebhook(token: string, eventName: EventName, signal: AbortSignal): Promise<void> {
    const answer = await callApi('DELETE', `/v1/webhooks/${eventName}`, { token, signal });
    if (answer.status !== 404) expectStatus(answer, 204);
  }

  /** Reads a delivery. `undefined` where there is none with that id. */
  async function findDelivery(
    token: string,
    eventName: EventName,
    id: string,
    signal: AbortSignal,
  ): Promise<DeliveryDetail | undefined> {
    const answer = await callApi('GET', `/v1/webhooks/${eventName}/entregas/${id}`, { token, signal });
    return answer.status === 404 ? undefined : read(answer, 200, deliveryDetail);
  }
}

export type Service = ReturnType<typeof makeService>;

/** The client and the user that log in. */
export interface Identity {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly username: string;
  readonly password: string;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A delivery as `GET …/entregas/{id}` shows it. */
export type DeliveryDetail = z.infer<typeof deliveryDetail>;

/** A registered webhook, with the secret that its deliveries are signed with. */
export type Registered = z.infer<typeof registeredWebhook>;

interface NewWebhook {
  readonly evento: EventName;
  readonly url: string;
  readonly autorizacao: string;
}

function clientOf({ clientId, clientSecret }: Identity) {
  return { client_id: clientId, client_secret: clientSecret };
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
