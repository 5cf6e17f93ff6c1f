import { makeClientAuthentication } from '../../lambdas/auth/endpoints/client-authentication.ts';
import { makeIntrospectEndpoint } from '../../lambdas/auth/endpoints/introspect-endpoint.ts';
import { makePresentedTokenReader } from '../../lambdas/auth/endpoints/presented-token.ts';
import { makeRevokeEndpoint } from '../../lambdas/auth/endpoints/revoke-endpoint.ts';
import { makeTokenEndpoint } from '../../lambdas/auth/endpoints/token-endpoint.ts';
import { makeGrants } from '../../lambdas/auth/grants/grants.ts';
import { type KeyRotation, makeKeyRotation } from '../../lambdas/auth/keys/key-rotation.ts';
import { rotationPolicies } from '../../lambdas/auth/keys/rotation-plan.ts';
import { type Client, type GrantType, grantTypes } from '../../lambdas/auth/principals/client.ts';
import { type ClientStore, makeClientStore, type NewClient } from '../../lambdas/auth/principals/client-store.ts';
import { makePasswordHashing, type PasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { makeSecretUse } from '../../lambdas/auth/principals/secret-use.ts';
import type { User } from '../../lambdas/auth/principals/user.ts';
import { makeUserStore, type UserStore } from '../../lambdas/auth/principals/user-store.ts';
import { type Lockout, makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { makeIpRateLimit } from '../../lambdas/auth/protection/rate-limit.ts';
import { makeAccessTokenVerification } from '../../lambdas/auth/sessions/access-token.ts';
import { makeActiveSessionReader } from '../../lambdas/auth/sessions/active-session.ts';
import { makeRefreshTokenVerification } from '../../lambdas/auth/sessions/refresh-token.ts';
import { makeSessionList, type SessionList } from '../../lambdas/auth/sessions/session-list.ts';
import { makeSessionStore, type SessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import type { HttpRequest, HttpResponse } from '../../lambdas/platform/http.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { type Keyring, makeKeyring, type SigningAlgorithm } from '../../lambdas/platform/keyring.ts';
import type { Log } from '../../lambdas/platform/telemetry.ts';
import { type FrozenClock, frozenClock } from './clock.ts';
import { type Database, startDatabase } from './database/database.ts';
import { type FakeKms, makeFakeKms } from './fake-kms.ts';
import { httpRequest, type RequestDescription } from './http-request.ts';

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
  readonly ipFailureLimit?: number;
  readonly clientFailureLimit?: number;
  /** @default - {@link quickHashing} */
  readonly passwords?: PasswordHashing;
  /** Draws from [0, 1). @default - 0: of a user's logins through a client the 20th counts the sessions, and so on */
  readonly random?: () => number;
}

/** A whole {auth_url} on an embedded database and a fake KMS, with a clock that stands still. */
export interface AuthService {
  readonly clock: FrozenClock;
  readonly database: Database;
  readonly kms: FakeKms;
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
  /** Names of hash operations so far: `hash` and `verify`. */
  readonly hashes: string[];
  /** A fresh client; both grants unless said otherwise. */
  makeClient(description?: Partial<NewClient>): Promise<{ client: Client; id: string; secret: string }>;
  /** A fresh user with a password of their own; an admin of account `acme` unless said otherwise. */
  makeUser(
    description?: Partial<Pick<User, 'role' | 'accountId'>>,
  ): Promise<{ user: User; username: string; password: string }>;
  /** Sends a request as it is described to one of the functions. */
  send(endpoint: Endpoint, description: RequestDescription): Promise<Answer>;
  /** Posts a form to one of the functions. */
  post(endpoint: Endpoint, form: Record<string, string>, description?: RequestDescription): Promise<Answer>;
  stop(): Promise<void>;
}

/** Argon2id at the least cost that it has, for tests about something else. */
export const quickHashing = makePasswordHashing({ memory: 8, passes: 1, parallelism: 1 });

/** The header every form needs. */
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

/** Returns an Authorization header by HTTP Basic; the halves are taken as they are. */
export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

/** Starts the service; stop it in `afterAll`. */
export async function startAuthService(options: AuthServiceOptions = {}): Promise<AuthService> {
  const clock = frozenClock();
  const { now } = clock;
  const { passwords = quickHashing } = options;
  const database = await startDatabase('Clients', 'Users', 'Credentials', 'Sessions', 'Lockouts', 'Keyring');
  const { dynamo } = database;
  const kms = makeFakeKms();
  const logs: string[] = [];
  const metrics: string[] = [];
  const hashes: string[] = [];
  const note = (...line: unknown[]) => void logs.push(JSON.stringify(line));
  const log: Log = { info: note, warn: note, error: note };
  const count = (name: string) => void metrics.push(name);

  const makeId = randomId;
  const clients = makeClientStore({ dynamo, table: 'Clients', now, makeId });
  const users = makeUserStore({
    dynamo,
    tables: { users: 'Users', credentials: 'Credentials' },
    now,
    makeId,
    hash: passwords.hash,
  });
  const rotation = makeKeyRotation({
    dynamo,
    kms: kms.client,
    table: 'Keyring',
    keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
    algorithm: options.algorithm ?? 'ES256',
    policies: rotationPolicies({
      periodSeconds: 90 * 86_400,
      accessTokenSeconds: 900,
      refreshAbsoluteSeconds: 90 * 86_400,
    }),
    now,
    makeId,
  });
  await rotation.rotateKeys();

  const newKeyring = () => makeKeyring({ dynamo, kms: kms.client, table: 'Keyring', now });
  const sessions = makeSessionStore({ dynamo, table: 'Sessions' });
  const tables = {
    clients: 'Clients',
    users: 'Users',
    credentials: 'Credentials',
    sessions: 'Sessions',
    lockouts: 'Lockouts',
  };
  const ipFailureLimit = options.ipFailureLimit ?? 100_000;
  const clientAuthentication = makeClientAuthentication({
    table: 'Clients',
    ipRateLimit: makeIpRateLimit({ dynamo, table: 'Lockouts', limit: ipFailureLimit, now }),
    secretUse: makeSecretUse({ dynamo, table: 'Lockouts', now, log }),
    now,
  });
  const newPresentedTokenReader = (keyring = newKeyring()) =>
    makePresentedTokenReader({
      dynamo,
      clientAuthentication,
      verifyRefreshToken: makeRefreshTokenVerification(keyring),
      verifyAccessToken: makeAccessTokenVerification({ keyring, issuers: [issuer], audiences: [audience], now }),
    });
  const world = { dynamo, tables, issuer, audience, log, count, now };
  const endpoints: Record<Endpoint, (request: HttpRequest) => Promise<HttpResponse>> = {
    token: makeTokenEndpoint({
      ...world,
      clientAuthentication,
      grants: makeGrants({
        ...world,
        keyring: newKeyring(),
        passwords: countHashes(passwords, hashes),
        accessTokenSeconds: 900,
        refreshIdleSeconds: 14 * 86_400,
        refreshAbsoluteSeconds: 90 * 86_400,
        clientFailureLimit: options.clientFailureLimit ?? 100_000,
        makeId,
        random: options.random ?? (() => 0),
      }),
    }),
    revoke: makeRevokeEndpoint({ ...world, readPresentedToken: newPresentedTokenReader(), sessions }),
    introspect: makeIntrospectEndpoint({
      ...world,
      readPresentedToken: newPresentedTokenReader(),
      readActiveSession: makeActiveSessionReader(world),
    }),
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

  const keyring = newKeyring();
  return {
    clock,
    database,
    kms,
    keyring,
    sessionList: makeSessionList({ dynamo, table: 'Sessions' }),
    lockout: makeLockout({ dynamo, table: 'Lockouts', keyring, now }),
    rotation,
    clients,
    users,
    sessions,
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
    post: (endpoint, form, description = {}) =>
      send(endpoint, {
        body: new URLSearchParams(form).toString(),
        ...description,
        headers: { ...formHeaders, ...description.headers },
      }),
    stop: () => database.stop(),
  };
}

/** The functions of {auth_url} that take forms. */
type Endpoint = 'token' | 'revoke' | 'introspect';

function countHashes(passwords: PasswordHashing, hashes: string[]): PasswordHashing {
  return {
    ...passwords,
    hash: password => {
      hashes.push('hash');
      return passwords.hash(password);
    },
    verify: (password, stored) => {
      hashes.push('verify');
      return passwords.verify(password, stored);
    },
  };
}

function readAnswer(response: HttpResponse): Answer {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers ?? {},
    text: response.body ?? '',
    json: JSON.parse(response.body ?? 'null'),
  };
}
