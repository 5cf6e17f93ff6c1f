import { randomBytes } from 'node:crypto';
import { makeKms } from '@emissor/cloud/kms';
import { composeIntrospect } from '../../lambdas/auth/endpoints/introspect.composition.ts';
import { composeRevoke } from '../../lambdas/auth/endpoints/revoke.composition.ts';
import { composeToken } from '../../lambdas/auth/endpoints/token.composition.ts';
import { type KeyRotation, makeKeyRotation } from '../../lambdas/auth/keys/key-rotation.ts';
import { type Client, type GrantType, grantTypes } from '../../lambdas/auth/principals/client.ts';
import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import type { User } from '../../lambdas/auth/principals/user.ts';
import { type Lockout, makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { type BearerAuthentication, makeBearerAuthentication } from '../../lambdas/auth/sessions/bearer.ts';
import { makeSessionStore, type SessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import type { HttpRequest, HttpResponse } from '../../lambdas/platform/http.ts';
import { makeRandomIds, randomId } from '../../lambdas/platform/identifiers.ts';
import type { KeyDerivation } from '../../lambdas/platform/key-derivation.ts';
import { type Keyring, makeKeyring, type SigningAlgorithm } from '../../lambdas/platform/keyring.ts';
import type { Outside } from '../../lambdas/platform/outside.ts';
import { systemRandom } from '../../lambdas/platform/random.ts';
import type { Log, Telemetry } from '../../lambdas/platform/telemetry.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { type ClientStore, makeClientStore, type NewClient } from '../../ops/stores/client-store.ts';
import { makeSessionList, type SessionList } from '../../ops/stores/session-list.ts';
import { makeUserStore, type UserStore } from '../../ops/stores/user-store.ts';
import { type FrozenClock, frozenClock } from './clock.ts';
import { type Database, startDatabase } from './database/database.ts';
import { httpRequest, type RequestDescription } from './http-request.ts';
import { quickKeyDerivation } from './password-hashing.ts';

/** The names the service under test goes by. */
export const issuer = 'https://auth.example.com';
export const audience = 'https://base.example.com';

/** A response with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  /** The body as sent. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any;
}

/** The options of a test. */
export interface AuthServiceOptions {
  readonly algorithm?: SigningAlgorithm;
  /** @default - one of its own */
  readonly clock?: FrozenClock;
  readonly clientFailureLimit?: number;
  /** @default - {@link quickKeyDerivation} */
  readonly keyDerivation?: KeyDerivation;
}

/** What a client, and a user, presents. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

interface UserCredentials {
  readonly username: string;
  readonly password: string;
}

/** A whole {auth_url} on an embedded database and a fake KMS, with a clock that stands still. */
export interface AuthService {
  readonly clock: FrozenClock;
  /** What its functions are composed with. */
  readonly outside: Pick<Outside, 'time' | 'random' | 'keyDerivation' | 'dynamo' | 'kms'>;
  readonly telemetry: Pick<Telemetry, 'log' | 'count'>;
  readonly database: Database;
  readonly kms: ReturnType<typeof makeKms>;
  readonly keyring: Keyring;
  readonly rotation: KeyRotation;
  readonly clients: ClientStore;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly sessionList: SessionList;
  readonly lockout: Lockout;
  /** Every log line so far, as one JSON text each. */
  readonly logs: string[];
  /** Every metric so far. */
  readonly metrics: string[];
  /** The hashes that the token function has computed so far, by their algorithm. */
  readonly hashes: string[];
  /** A fresh client; both grants unless said otherwise. */
  makeClient(description?: Partial<NewClient>): Promise<ClientCredentials & { client: Client }>;
  /** A fresh user with a password of their own; an admin of account `acme` unless said otherwise. */
  makeUser(description?: Partial<Pick<User, 'role' | 'accountId'>>): Promise<UserCredentials & { user: User }>;
  /** Sends a request as it is described to one of the functions. */
  send(endpoint: Endpoint, description: RequestDescription): Promise<Answer>;
  /** Posts a form to one of the functions. */
  post(endpoint: Endpoint, form: Record<string, string>, description?: RequestDescription): Promise<Answer>;
  /** Asks for tokens by the password grant. */
  logIn(client: ClientCredentials, user: UserCredentials, more?: Record<string, string>): Promise<Answer>;
  /** Asks for tokens by the refresh grant. */
  refresh(client: ClientCredentials, token: string, more?: Record<string, string>): Promise<Answer>;
  /** Authenticates a request to {base_url} by its Authorization header. */
  authenticate: BearerAuthentication;
  stop(): Promise<void>;
}

/** The environment of the functions of {auth_url}. */
export const authEnvironment = {
  ...stageConfiguration('dev'),
  clientsTable: 'Clients',
  usersTable: 'Users',
  credentialsTable: 'Credentials',
  sessionsTable: 'Sessions',
  lockoutsTable: 'Lockouts',
  keyringTable: 'Keyring',
  issuer,
  audience,
  clientFailureLimit: 100_000,
} as const;

/** The header every form needs. */
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

/** Returns an Authorization header by HTTP Basic; the halves are taken as they are. */
export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

/** Starts the service; stop it in `afterAll`. */
export async function startAuthService(options: AuthServiceOptions = {}): Promise<AuthService> {
  const { clock = frozenClock(), keyDerivation = quickKeyDerivation } = options;
  const kms = makeKms({ bytes: randomBytes });
  const { time } = clock;
  const random = systemRandom;
  const makeId = makeRandomIds(random);
  const database = await startDatabase('Clients', 'Users', 'Credentials', 'Sessions', 'Lockouts', 'Keyring');
  const { dynamo } = database;
  const logs: string[] = [];
  const metrics: string[] = [];
  const hashes: string[] = [];
  const note = (...line: unknown[]) => void logs.push(JSON.stringify(line));
  const log: Log = { info: note, warn: note, error: note };
  const telemetry = { log, count: (name: string) => void metrics.push(name) };

  const clients = makeClientStore({ ...time, dynamo, table: 'Clients', makeId });
  const users = makeUserStore({
    ...time,
    dynamo,
    tables: { users: 'Users', credentials: 'Credentials' },
    makeId,
    hash: makePasswordHashing({ keyDerivation, random }).hash,
  });
  const rotation = makeKeyRotation({
    ...time,
    dynamo,
    kms,
    table: 'Keyring',
    keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
    algorithm: options.algorithm ?? 'ES256',
    makeId,
  });
  await rotation.rotateKeys();

  const outside = { time, random, dynamo, kms, keyDerivation: noting(keyDerivation, hashes) };
  const environment = {
    ...authEnvironment,
    clientFailureLimit: options.clientFailureLimit ?? authEnvironment.clientFailureLimit,
  };
  const endpoints: Record<Endpoint, (request: HttpRequest) => Promise<HttpResponse | undefined>> = {
    token: composeToken(environment, outside, telemetry),
    revoke: composeRevoke(environment, outside, telemetry),
    introspect: composeIntrospect(environment, outside, telemetry),
  };
  const send: AuthService['send'] = async (endpoint, description) => {
    const request = httpRequest({
      method: 'POST',
      path: `/oauth/v1/${endpoint}`,
      headers: formHeaders,
      ...description,
    });
    return readAnswer(await endpoints[endpoint](request));
  };
  const post: AuthService['post'] = (endpoint, form, description = {}) =>
    send(endpoint, {
      body: new URLSearchParams(form).toString(),
      ...description,
      headers: { ...formHeaders, ...description.headers },
    });
  const grant = (grant_type: GrantType, { id, secret }: ClientCredentials, parameters: Record<string, string>) =>
    post('token', { grant_type, client_id: id, client_secret: secret, ...parameters });

  const keyring = makeKeyring({ ...time, dynamo, kms, table: 'Keyring' });
  const bearer = {
    ...{ ...authEnvironment, ...time, dynamo, tables: { clients: 'Clients', users: 'Users', sessions: 'Sessions' } },
    keyring: makeKeyring({ ...time, dynamo, table: 'Keyring' }), // without KMS: it only lists keys
  };
  return {
    clock,
    outside,
    telemetry,
    database,
    kms,
    keyring,
    sessionList: makeSessionList({ dynamo, table: 'Sessions' }),
    lockout: makeLockout({ ...time, dynamo, table: 'Lockouts', keyring, makeId }),
    rotation,
    clients,
    users,
    sessions: makeSessionStore({ ...time, dynamo, table: 'Sessions' }),
    logs,
    metrics,
    hashes,
    makeClient: async description => {
      const grants: readonly GrantType[] = grantTypes;
      const { client, clientSecret } = await clients.createClient({ name: 'test', grants, ...description });
      return { client, id: client.clientId, secret: clientSecret };
    },
    makeUser: async ({ role = 'admin', accountId = 'acme' } = {}) => {
      const username = `${randomId(12)}@example.com`;
      const password = `pa ss+${randomId(12)}%é`;
      return { user: await users.createUser({ email: username, password, accountId, role }), username, password };
    },
    send,
    post,
    logIn: (client, { username, password }, more) => grant('password', client, { username, password, ...more }),
    refresh: (client, refresh_token, more) => grant('refresh_token', client, { refresh_token, ...more }),
    authenticate: makeBearerAuthentication(bearer),
    stop: () => database.stop(),
  };
}

/** The functions of {auth_url} that take forms. */
type Endpoint = 'token' | 'revoke' | 'introspect';

function noting(keyDerivation: KeyDerivation, hashes: string[]): KeyDerivation {
  return {
    ...keyDerivation,
    argon2: (algorithm, message, cost) => {
      hashes.push(algorithm);
      return keyDerivation.argon2(algorithm, message, cost);
    },
  };
}

function readAnswer(response: HttpResponse | undefined): Answer {
  return {
    status: response?.statusCode ?? 0,
    headers: response?.headers ?? {},
    text: response?.body ?? '',
    json: JSON.parse(response?.body ?? 'null'),
  };
}
