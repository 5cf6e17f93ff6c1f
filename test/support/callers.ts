import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { ownUrls } from '../../lab/world/stage.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import { makeAccessTokenMint } from '../../lambdas/auth/sessions/access-token.ts';
import type { Dynamo, Item } from '../../lambdas/platform/aws/dynamo.ts';
import type { Clock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { keyring } from '../unit/delivery/test-keyring.ts';

/** Creates callers of the API. Tests describe a caller as `<role>|<scope> <scope>|<account>` instead of a token. */
export function makeCallers(now: Clock, dynamo: Dynamo) {
  const mint = makeAccessTokenMint({ issuer: ownUrls.auth, audience: ownUrls.base, keyring, now, makeId: randomId });
  const tokens = new Map<string, Promise<string>>();
  return { authorization };

  /** Replaces the description of a caller in an Authorization header with a real token, and stores the caller's records. */
  async function authorization(header: string): Promise<string> {
    const [, text] = /^Bearer ((?:admin|member)\|.*)$/.exec(header) ?? [];
    if (text === undefined) return header;
    const name = `${now()} ${text}`;
    const token = tokens.get(name) ?? mintFor(text);
    tokens.set(name, token);
    return `Bearer ${await token}`;
  }

  async function mintFor(text: string): Promise<string> {
    const userId = Buffer.from(text).toString('hex');
    const [role = '', scope = '', accountId = ''] = text.split('|');
    for (const [TableName, Item] of Object.entries(recordsOf(userId, role, accountId))) {
      await dynamo(new PutCommand({ TableName, Item }));
    }
    return mint({ sub: userId, sid: `${userId}-session`, client_id: clientId, account_id: accountId, scope }, 900);
  }
}

function recordsOf(userId: string, role: string, accountId: string): Record<string, Item> {
  const common = { version: 1, createdAt: 0, updatedAt: 0, status: 'enabled' };
  const ends = { idleExpiresAt: Number.MAX_SAFE_INTEGER, absoluteExpiresAt: Number.MAX_SAFE_INTEGER };
  return {
    Clients: {
      ...common,
      ...{ clientId, name: clientId, secrets: [], grants: [], scopes, graceSeconds: 0, introspect: false },
    },
    Users: { ...common, userId, email: 'user@example.com', credentialVersion: 1, accountId, role },
    Sessions: {
      ...{ sessionId: `${userId}-session`, clientId, userId, accountId, userVersion: 1, clientVersion: 1 },
      ...{ scope: '', counter: 1, keyId: 'k', createdAt: 0, rotatedAt: 0, ...ends },
    },
  };
}

const clientId = 'client';
