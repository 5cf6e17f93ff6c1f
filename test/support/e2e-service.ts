import { createHash } from 'node:crypto';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import type { EventValues } from '../../lambdas/delivery/intake/event-format.ts';
import * as accounts from '../../tools/support/accounts.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import {
  type ApiResponse,
  type Form,
  makeServiceClient,
  type NewWebhook,
  passwordGrant,
} from '../../tools/support/service-client.ts';
import { authUrl, baseUrl, output, outputs, registerSecret, run, until } from './e2e-target.ts';

const service = makeServiceClient({ AuthUrl: authUrl, BaseUrl: baseUrl });
const queues = sqsClientOf(outputs);

/** `postForm` sends a form to {auth_url}, and `callApi` sends a request to {base_url}. */
export const { postForm, callApi } = service;

export function newAccount(): string {
  return `e2e-${accounts.unique()}`;
}

/** Creates a client with the operators' CLI. By default, it has both grants. */
export async function createClient(...options: string[]): Promise<accounts.Client> {
  const client = await accounts.createClient(run.outputsFile, ...options);
  registerSecret(client.clientSecret);
  return client;
}

/** Creates a user with the operators' CLI. By default, the user is the admin of a new account. */
export async function createUser(description: accounts.NewUser = {}): Promise<accounts.User> {
  const user = await accounts.createUser(run.outputsFile, description);
  registerSecret(user.password);
  return user;
}

/** Exchanges a grant for tokens. @throws if the token endpoint rejects it */
export async function getTokens(form: Form) {
  const tokens = await service.getTokens(form);
  registerSecret(tokens.access_token);
  if (tokens.refresh_token) registerSecret(tokens.refresh_token);
  return tokens;
}

export function logIn(client: accounts.Client, user: accounts.User) {
  return getTokens(passwordGrant(client, user));
}

export interface Session {
  readonly user: accounts.User;
  readonly token: string;
}

/** Creates an admin and logs them in. By default, the admin has a new account. */
export async function openSession(client: accounts.Client, description?: accounts.NewUser): Promise<Session> {
  const user = await createUser(description);
  return { user, token: (await logIn(client, user)).access_token };
}

export async function register({ token }: Session, webhook: NewWebhook): Promise<string> {
  if (webhook.autorizacao !== undefined) registerSecret(webhook.autorizacao);
  return registerSecret(await service.register(token, webhook));
}

/** Expects an RFC 9457 error with this status and code. */
export function expectProblem(response: ApiResponse, status: number, code: string): void {
  const texts = { type: expect.any(String), title: expect.any(String), detail: expect.any(String) };
  expect(response).toMatchObject({ status, json: { status, code, ...texts } });
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('content-language')).toMatch(/^(?:en|pt-BR)$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

/** Sends a message to the events queue and returns its id. `sender` is the sender's principal in a local run. */
export async function send(body: string, account: string, sender?: string): Promise<string> {
  const client = sender === undefined ? queues : sqsClientOf(outputs, sender);
  const message = { QueueUrl: output('EventsQueueUrl'), MessageBody: body, MessageGroupId: account };
  return (await client.send(new SendMessageCommand(message))).MessageId ?? '';
}

/** An event without its account. */
export interface PublishedEvent extends EventValues {
  readonly event: string;
  readonly id?: string;
}

/** Publishes an event for an account and returns the id of its delivery. */
export async function publish(account: string, event: PublishedEvent): Promise<string> {
  const messageId = await send(JSON.stringify({ id_conta: account, ...event }), account);
  return deliveryId(account, event.event, event.id ?? messageId);
}

/** Returns the id of an event's delivery. `id` is the publisher's id for the event, or the message id. */
export function deliveryId(account: string, event: string, id: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([account, event, id]))
    .digest('base64url');
  return `evt_${digest.slice(0, 27)}`;
}

/** Waits until a delivery has a final state. Returns the output of `ops deliveries show`. */
export function untilSettled(id: string, limit?: number): Promise<Delivery> {
  const find = async () => {
    const { code, stdout } = await runOpsInProcess(['--outputs', run.outputsFile, '--json', 'deliveries', 'show', id]);
    const delivery: Delivery | undefined = code === 0 ? JSON.parse(stdout) : undefined;
    return delivery?.state === 'pendente' ? undefined : delivery;
  };
  return until(`the final state of ${id}`, find, limit, 200); // more frequent requests would slow down other suites
}

interface Delivery {
  readonly state: string;
  readonly attempts: readonly { readonly resultado: string; readonly status: number | null }[];
}
