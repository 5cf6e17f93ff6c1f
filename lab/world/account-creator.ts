import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Client } from '../../lambdas/auth/principals/client.ts';
import { makeAccessTokenMint } from '../../lambdas/auth/sessions/access-token.ts';
import { sessionIdPrefix } from '../../lambdas/auth/sessions/session.ts';
import { makeSessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import { makeRandomIds } from '../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { makeUserStore } from '../../ops/stores/user-store.ts';
import type { WorldRuntime } from './process-runtime.ts';
import { ownUrls, type Tokens } from './stage.ts';
import { second } from './times.ts';

/** Creates functions that add the integrators' client and account admins. */
export function makeAccountCreator({ dynamo, kms, time, random }: WorldRuntime, tokens: Tokens) {
  const makeId = makeRandomIds(random);
  const keyring = makeKeyring({ ...time, dynamo, kms, table: 'Keyring' });
  const mint = makeAccessTokenMint({
    keyring,
    makeId,
    now: time.now,
    issuer: ownUrls.auth,
    audience: ownUrls.base,
  });
  const users = makeUserStore({
    dynamo,
    makeId,
    now: time.now,
    tables: { users: 'Users', credentials: 'Credentials' },
    hash: async () => 'no login',
  });
  const sessions = makeSessionStore({ ...time, dynamo, table: 'Sessions' });
  return { addClient, createAccount };

  /** Adds the client that all integrators use. */
  async function addClient(): Promise<void> {
    const createdAt = time.now();
    const Item: Client = {
      clientId,
      name: 'integrations',
      secrets: [],
      grants: ['password'],
      scopes: ['webhooks:read', 'webhooks:manage'],
      graceSeconds: 0,
      introspect: false,
      status: 'enabled',
      version: 1,
      createdAt,
      updatedAt: createdAt,
    };
    await dynamo(new PutCommand({ TableName: 'Clients', Item }));
  }

  /** Creates an admin with a session, and the access token for the account's requests. */
  async function createAccount(accountId: string): Promise<void> {
    const createdAt = time.now();
    const email = `${accountId}-${createdAt}@example.com`;
    const { userId, version } = await users.createUser({ email, password: '', accountId, role: 'admin' });
    const sessionId = `${sessionIdPrefix(userId)}${makeId(22)}`;
    await sessions.createSession({
      ...{
        sessionId,
        clientId,
        userId,
        accountId,
        userVersion: version,
        clientVersion: 1,
        scope,
        counter: 1,
        keyId: '',
      },
      ...{ createdAt, rotatedAt: createdAt },
      ...{ idleExpiresAt: createdAt + lifetime, absoluteExpiresAt: createdAt + lifetime },
    });
    const subject = { sub: userId, sid: sessionId, client_id: clientId, account_id: accountId, scope };
    tokens.set(accountId, await mint(subject, lifetime / second));
  }
}

const clientId = 'integrations';
const scope = 'webhooks:read webhooks:manage';

/** The lifetime of sessions and tokens. It exceeds the duration of a world, so that integrators need no logins. */
const lifetime = 7_200 * second;
