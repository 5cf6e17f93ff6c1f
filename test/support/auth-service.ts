import { randomBytes } from 'node:crypto';
import { makeKms } from '@emissor/cloud/kms';
import { tokenEnvironment } from '../../lab/world/auth/token-stage.ts';
import { composeIntrospect } from '../../lambdas/auth/endpoints/introspect.composition.ts';
import { composeRevoke } from '../../lambdas/auth/endpoints/revoke.composition.ts';
import { composeToken } from '../../lambdas/auth/endpoints/token.composition.ts';
import { makeKeyRotation } from '../../lambdas/auth/keys/key-rotation.ts';
import { type GrantType, grantTypes } from '../../lambdas/auth/principals/client.ts';
import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import type { User } from '../../lambdas/auth/principals/user.ts';
import { makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { makeBearerAuthentication } from '../../lambdas/auth/sessions/bearer.ts';
import { makeSessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import type { KeyDerivation } from '../../lambdas/platform/key-derivation.ts';
import { makeKeyring, type SigningAlgorithm } from '../../lambdas/platform/keyring.ts';
import { systemRandom } from '../../lambdas/platform/random.ts';
import type { Runtime } from '../../lambdas/platform/runtime.ts';
import { makeClientStore, type NewClient } from '../../ops/stores/client-store.ts';
import { makeSessionList } from '../../ops/stores/session-list.ts';
import { makeUserStore } from '../../ops/stores/user-store.ts';
import { frozenClock } from './clock.ts';
import { startDatabase } from './database/database.ts';
import { httpRequest, type RequestDescription } from './http-request.ts';
import { quickKeyDerivation } from './password-hashing.ts';

/** The environment for the functions of {auth_url}. */
export const authEnvironment = { ...tokenEnvironment, clientFailureLimit: 100_000 };

export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

interface UserCredentials {
  readonly username: string;
  readonly password: string;
}

export interface AuthResponse {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every type
  readonly json: any;
}

/** The service of {auth_url} with an in-process database, an emulated KMS and a frozen clock. */
export type AuthService = Awaited<ReturnType<typeof startAuthService>>;

/** Starts the service. The caller must stop it in `afterAll`. */
export async function startAuthService({
  algorithm = 'ES256',
  keyDerivation = quickKeyDerivation,
  ...limits
}: {
  readonly algorithm?: SigningAlgorithm;
  readonly clientFailureLimit?: number;
  readonly keyDerivation?: KeyDerivation;
} = {}) {
  const clock = frozenClock();
  const kms = makeKms({ bytes: randomBytes });
  const database = await startDatabase('Clients', 'Users', 'Credentials', 'Sessions', 'Lockouts', 'Keyring');
  const { dynamo } = database;
  const logs: string[] = [];
  const metrics: string[] = [];
  const hashes: string[] = [];
  const note = (...line: unknown[]) => void logs.push(JSON.stringify(line));
  const telemetry = {
    log: { info: note, warn: note, error: note },
    count: (name: string) => void metrics.push(name),
  };
  const stored = { ...clock.time, dynamo, makeId: randomId };
  const keyring = makeKeyring({ ...stored, kms, table: 'Keyring' });
  const keyArn = 'arn:aws:kms:sa-east-1:000000000000:key/test';
  const rotation = makeKeyRotation({ ...stored, kms, table: 'Keyring', keyArn, algorithm });
  await rotation.rotateKeys();
  const clients = makeClientStore({ ...stored, table: 'Clients' });
  const { hash } = makePasswordHashing({ keyDerivation, random: systemRandom });
  const users = makeUserStore({ ...stored, tables: { users: 'Users', credentials: 'Credentials' }, hash });

  const argon2: KeyDerivation['argon2'] = (name, message, cost) => {
    hashes.push(name);
    return keyDerivation.argon2(name, message, cost);
  };
  const runtime: Pick<Runtime, 'time' | 'random' | 'keyDerivation' | 'dynamo' | 'kms'> = {
    ...{ time: clock.time, random: systemRandom, dynamo, kms },
    keyDerivation: { ...keyDerivation, argon2 },
  };
  const environment = { ...authEnvironment, ...limits };
  const endpoints = {
    token: composeToken(environment, runtime, telemetry),
    revoke: composeRevoke(environment, runtime, telemetry),
    introspect: composeIntrospect(environment, runtime, telemetry),
  };
  return {
    ...{ clock, runtime, telemetry, database, kms, keyring, rotation, clients, users },
    sessionList: makeSessionList({ dynamo, table: 'Sessions' }),
    lockout: makeLockout({ ...stored, table: 'Lockouts', keyring }),
    sessions: makeSessionStore({ ...stored, table: 'Sessions' }),
    /** The log lines (as JSON), metrics and hash algorithms that the functions have used. */
    ...{ logs, metrics, hashes },
    ...{ makeClient, makeUser, send, post, logIn, refresh },
    /** Authenticates a request to {base_url} with its Authorization header. */
    authenticate: makeBearerAuthentication({
      ...{ ...authEnvironment, ...clock.time, dynamo },
      tables: { clients: 'Clients', users: 'Users', sessions: 'Sessions' },
      keyring: makeKeyring({ ...stored, table: 'Keyring' }), // without KMS, because it only lists keys
    }),
    stop: () => database.stop(),
  };

  /** Creates a client. By default, it has both grants. */
  async function makeClient(description?: Partial<NewClient>) {
    const { client, clientSecret } = await clients.createClient({ name: 'test', grants: grantTypes, ...description });
    return { client, id: client.clientId, secret: clientSecret };
  }

  /** Creates a user. By default, the user is an admin of the account `acme`. */
  async function makeUser({ role = 'admin', accountId = 'acme' }: Partial<Pick<User, 'role' | 'accountId'>> = {}) {
    const username = `${randomId(12)}@example.com`;
    const password = `pa ss+${randomId(12)}%é`;
    return { user: await users.createUser({ email: username, password, accountId, role }), username, password };
  }

  async function send(endpoint: keyof typeof endpoints, description: RequestDescription): Promise<AuthResponse> {
    const request = { method: 'POST', path: `/oauth/v1/${endpoint}`, headers: formHeaders, ...description };
    const {
      statusCode: status,
      headers = {},
      body: text = '',
    } = { ...(await endpoints[endpoint](httpRequest(request))) };
    return { status, headers, text, json: text === '' ? undefined : JSON.parse(text) };
  }

  function post(endpoint: keyof typeof endpoints, form: Record<string, string>, more: RequestDescription = {}) {
    const body = new URLSearchParams(form).toString();
    return send(endpoint, { body, ...more, headers: { ...formHeaders, ...more.headers } });
  }

  function logIn(client: ClientCredentials, { username, password }: UserCredentials, more?: Record<string, string>) {
    return grant('password', client, { username, password, ...more });
  }

  function refresh(client: ClientCredentials, refresh_token: string, more?: Record<string, string>) {
    return grant('refresh_token', client, { refresh_token, ...more });
  }

  function grant(grant_type: GrantType, { id, secret }: ClientCredentials, parameters: Record<string, string>) {
    return post('token', { grant_type, client_id: id, client_secret: secret, ...parameters });
  }
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

/** Returns an Authorization header for HTTP Basic. It does not URL-encode the id or the secret. */
export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}
