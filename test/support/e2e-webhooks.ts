import { expect } from 'vitest';

import type { Client, NewUser, User } from '../../tools/support/accounts.ts';
import { type Answer, makeServiceClient, type NewWebhook } from '../../tools/support/service-client.ts';
import { createUser, logIn } from './e2e-accounts.ts';
import { mapHost } from './e2e-receiver.ts';
import { authUrl, baseUrl, plant, run } from './e2e-target.ts';

const service = makeServiceClient({ AuthUrl: authUrl, BaseUrl: baseUrl });

/** Sends a request to {base_url} and reads the answer. */
export const { callApi } = service;

/** Expects a problem with the members that every one has here (RFC 9457 section 3.1). */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer).toMatchObject({ status, json: { status, code } });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('content-language')).toMatch(/^(?:en|pt-BR)$/);
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
export async function openSession(client: Client, description: NewUser = {}): Promise<Session> {
  const user = await createUser(description);
  const { access_token } = await logIn(client, user);
  return { user, token: access_token };
}

/** Registers a webhook and returns its signing secret. */
export async function register({ token }: Session, webhook: NewWebhook): Promise<string> {
  if (webhook.autorizacao !== undefined) plant(webhook.autorizacao);
  return plant(await service.register(token, webhook));
}

/** Returns a public host that the run under test takes without looking it up on the real Internet. */
export async function publicHost(): Promise<string> {
  const address = '93.184.215.14';
  if (run.hostsFile === null) return address;
  await mapHost('public.example.com', [address]);
  return 'public.example.com';
}
