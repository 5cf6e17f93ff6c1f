import * as z from 'zod';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { type Answer, type Form, makeServiceClient as makeClient } from '../../lambdas/smoke/service-client.ts';
import type { Client, User } from './accounts.ts';

export type Tokens = z.output<typeof tokensSchema>;

export function passwordGrant(client: Client, user: Pick<User, 'email' | 'password'>) {
  return {
    grant_type: 'password',
    client_id: client.clientId,
    client_secret: client.clientSecret,
    username: user.email,
    password: user.password,
  };
}

export function refreshGrant(client: Client, refreshToken: string) {
  return {
    grant_type: 'refresh_token',
    client_id: client.clientId,
    client_secret: client.clientSecret,
    refresh_token: refreshToken,
  };
}

export interface NewWebhook {
  readonly evento: string;
  readonly url: string;
  readonly autorizacao?: string;
}

/** Makes a client of the service with these outputs. */
export function makeServiceClient({ AuthUrl, BaseUrl }: Record<'AuthUrl' | 'BaseUrl', string>) {
  const address = { authUrl: AuthUrl, baseUrl: BaseUrl };
  const { callApi, ...client } = makeClient({
    ...systemTime,
    ...address,
    fetch: (url, request) => fetch(url, request),
  });
  return { postForm, getTokens, callApi, register };

  /** POSTs a form to an endpoint of {auth_url}. */
  function postForm(
    endpoint: 'token' | 'revoke' | 'introspect',
    form: Form,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    return client.postForm(endpoint, form, { headers });
  }

  /** Exchanges a grant for tokens. @throws when the token endpoint refuses it. */
  async function getTokens(form: Form): Promise<Tokens> {
    const { status, text, json } = await postForm('token', form);
    if (status !== 200) throw new Error(`Token endpoint: ${status} ${text}`);
    return tokensSchema.parse(json);
  }

  /** Registers a webhook, and returns its signing secret. @throws when the API refuses it. */
  async function register(token: string, webhook: NewWebhook): Promise<string> {
    const answer = await callApi('POST', '/v1/webhooks', { token, body: webhook });
    if (answer.status !== 201) throw new Error(`Registering ${webhook.evento}: ${answer.status} ${answer.text}`);
    return String(answer.json?.segredo);
  }
}

const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.string(),
  expires_in: z.number(),
  /** Empty where the client may not refresh. */
  refresh_token: z.string().default(''),
  scope: z.string().optional(),
});
