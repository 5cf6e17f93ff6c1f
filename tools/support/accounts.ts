import { randomBytes } from 'node:crypto';
import { runOpsJson } from './ops.ts';

/** A client of the token endpoint. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A user and their password. */
export interface User {
  readonly userId: string;
  readonly email: string;
  readonly account: string;
  readonly password: string;
}

export interface NewUser {
  readonly account?: string;
  readonly role?: 'admin' | 'member';
  readonly password?: string;
}

/** Returns a unique string of letters and digits. */
export function unique(): string {
  return randomBytes(9).toString('hex');
}

/** Creates a client with the operators' CLI. By default, it has both grants and accepts users of any account. */
export function createClient(outputsFile: string, ...options: readonly string[]): Promise<Client> {
  const args = options.length > 0 ? options : ['--grant', 'password', '--grant', 'refresh_token'];
  const anyAccount = args.includes('--account') ? [] : ['--any-account'];
  return runOpsJson(outputsFile, ['clients', 'create', '--name', `test ${unique()}`, ...args, ...anyAccount]);
}

/** Creates a user with the operators' CLI. By default, the user is the admin of a new account. */
export async function createUser(
  outputsFile: string,
  { account = `test-${unique()}`, role = 'admin', password = `Senha-${unique()}-ção` }: NewUser = {},
): Promise<User> {
  const email = `${unique()}@test.example.com`;
  const args = ['users', 'create', '--email', email, '--account', account, '--role', role];
  const { userId } = await runOpsJson<{ userId: string }>(outputsFile, args, `${password}\n`);
  return { userId, email, account, password };
}
