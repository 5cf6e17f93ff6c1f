import { parseSession } from '../../../../lambdas/auth/sessions/session.ts';
import type { Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import type { Violate } from '../../invariants/violation.ts';
import { day } from '../../times.ts';
import { claimsOf } from '../access-tokens.ts';
import type { Evidence } from './evidence.ts';

/** Checks the final tables. Sessions and failure counts must expire, and records must refer to existing records. */
export function checkTables({ world, requests, isFaultFree }: Evidence, violate: Violate): void {
  const { tables } = world;
  const ids = (table: string, name: string) => new Set(tables.items(table).map(item => item[name]));
  const [users, clients, keys] = [ids('Users', 'userId'), ids('Clients', 'clientId'), ids('Keyring', 'keyId')];
  for (const item of tables.items('Sessions')) {
    const session = parseSession(item);
    if (!session) continue;
    const { sessionId, userId, clientId, keyId, idleExpiresAt, absoluteExpiresAt } = session;
    if (!users.has(userId) || !clients.has(clientId)) violate('a session without a user or client', sessionId);
    if (!keys.has(keyId)) violate('a session without its key', sessionId);
    if (item.ttl !== Math.ceil(Math.min(idleExpiresAt, absoluteExpiresAt) / 1_000))
      violate('the TTL of a session is wrong', sessionId);
  }
  const logins = (table: 'Users' | 'Credentials') =>
    new Set(tables.items(table).map(item => `${item.userId} ${item.email} ${item.credentialVersion}`));
  for (const login of logins('Users').symmetricDifference(logins('Credentials')))
    violate('a user without a credential, or a credential without a user', login);
  const hashes = new Map(tables.items('Credentials').map(({ userId, passwordHash }) => [userId, passwordHash]));
  for (const request of requests) {
    const isLogin = request.form.grant_type === 'password' && request.response?.status === 200 && isFaultFree(request);
    const { sub } = { ...(isLogin && claimsOf(String(request.response?.body.access_token))) };
    if (isLogin && !String(hashes.get(sub)).startsWith('$argon2id$v=19$m=19456,t=2,p=1$'))
      violate('a login did not update the hash parameters', request.id);
  }
  for (const item of tables.items('Lockouts')) {
    if (typeof item.ttl !== 'number') violate('an item without a TTL', String(item.pk));
    if (String(item.pk).startsWith('lock#')) checkLockoutItem(item, violate);
  }
}

function checkLockoutItem({ pk, failures, lastFailureAt, latestFailure, ttl }: Item, violate: Violate): void {
  const isValid =
    Number(failures) > 0 && Boolean(latestFailure) && ttl === Math.ceil((Number(lastFailureAt) + day) / 1_000);
  if (!isValid) violate('a failure count or its TTL is wrong', String(pk));
}
