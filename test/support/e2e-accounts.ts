import { randomBytes } from 'node:crypto';
import { ops } from './e2e-ops.ts';
import { authUrl, plant } from './e2e-target.ts';

/** A client as `ops clients create` reports it; the secret is shown that once. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A user, with the password the suite chose. */
export interface User {
  readonly userId: string;
  readonly email: string;
  readonly account: string;
  readonly password: string;
}

/** Letters and digits that no other test uses. */
export function unique(): string {
  return randomBytes(9).toString('hex');
}

/** An account id that no other test uses. */
export function newAccount(): string {
  return `e2e-${unique()}`;
}

/** Creates a client with the operator's command line; by default one with both grants. */
export async function createClient(...options: string[]): Promise<Client> {
  const args = options.length > 0 ? options : ['--grant', 'password', '--grant', 'refresh_token'];
  const client = await ops<Client>(['clients', 'create', '--name', `e2e ${unique()}`, ...args]);
  plant(client.clientSecret);
  return client;
}

/** Creates a user with the operator's command line; by default the admin of an account of its own. */
export async function createUser({
  account = newAccount(),
  role = 'admin',
  password = plant(`Senha-${unique()}-ção`),
}: {
  account?: string;
  role?: 'admin' | 'member';
  password?: string;
} = {}): Promise<User> {
  const email = `${unique()}@e2e.example.com`;
  const args = ['users', 'create', '--email', email, '--account', account, '--role', role];
  const { userId } = await ops<{ userId: string }>(args, `${password}\n`);
  return { userId, email, account, password };
}

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

/** POSTs a form to the token endpoint. */
export function postToken(form: Form, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${authUrl}/oauth/v1/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
    body: new URLSearchParams(form as Record<string, string>).toString(),
  });
}

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

/**
 * Exchanges a grant for tokens.
 *
 * @throws when the token endpoint refuses it.
 */
export async function getTokens(form: Form): Promise<Tokens> {
  const response = await postToken(form);
  if (response.status !== 200) throw new Error(`Token endpoint: ${response.status} ${await response.text()}`);
  const tokens = (await response.json()) as Tokens;
  plant(tokens.access_token);
  if (tokens.refresh_token) plant(tokens.refresh_token);
  return tokens;
}

/** Logs a user in with the password grant. */
export function logIn(client: Client, user: User): Promise<Tokens> {
  return getTokens(passwordGrant(client, user));
}
