import * as accounts from '../../tools/support/accounts.ts';
import {
  type Answer,
  type Form,
  makeServiceClient,
  passwordGrant,
  type Tokens,
} from '../../tools/support/service-client.ts';
import { authUrl, baseUrl, plant, run } from './e2e-target.ts';

const service = makeServiceClient({ AuthUrl: authUrl, BaseUrl: baseUrl });

/** Makes an account id that no other test uses. */
export function newAccount(): string {
  return `e2e-${accounts.unique()}`;
}

/** Creates a client with the operator's command line; by default one with both grants. */
export async function createClient(...options: string[]): Promise<accounts.Client> {
  const client = await accounts.createClient(run.outputsFile, ...options);
  plant(client.clientSecret);
  return client;
}

/** Creates a user with the operator's command line; by default the admin of an account of its own. */
export async function createUser(description: accounts.NewUser = {}): Promise<accounts.User> {
  const user = await accounts.createUser(run.outputsFile, description);
  plant(user.password);
  return user;
}

/** POSTs a form to an endpoint of {auth_url}. */
export const { postForm } = service;

/** POSTs a form to the token endpoint. */
export function postToken(form: Form, headers?: Record<string, string>): Promise<Answer> {
  return postForm('token', form, headers);
}

/**
 * Exchanges a grant for tokens.
 *
 * @throws when the token endpoint refuses it.
 */
export async function getTokens(form: Form): Promise<Tokens> {
  const tokens = await service.getTokens(form);
  plant(tokens.access_token);
  if (tokens.refresh_token) plant(tokens.refresh_token);
  return tokens;
}

/** Logs a user in with the password grant. */
export function logIn(client: accounts.Client, user: accounts.User): Promise<Tokens> {
  return getTokens(passwordGrant(client, user));
}
