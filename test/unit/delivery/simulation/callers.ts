import type { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { makeAccessTokenMint } from '../../../../lambdas/auth/sessions/access-token.ts';
import type { Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import type { Clock } from '../../../../lambdas/platform/clock.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { keyring } from '../test-keyring.ts';

/** The names that the API under test goes by. */
export const ownUrls = { issuer: 'https://auth.example', audience: 'https://base.example' };

/**
 * Makes the callers of the API. Each is a text `<role>|<scope> <scope>|<account>` in place of a token. Their ids hold that text, so
 * that their records follow from their keys: they stand in no table.
 */
export function makeCallers(now: Clock) {
  const mint = makeAccessTokenMint({ ...ownUrls, keyring, lifetimeSeconds: 900, now, makeId: randomId });
  const tokens = new Map<string, Promise<string>>();
  return { authorization, records };

  /** Returns an Authorization header with a real token where it names such a caller. */
  async function authorization(header: string): Promise<string> {
    const [, text] = /^Bearer ((?:admin|member)\|.*)$/.exec(header) ?? [];
    if (text === undefined) return header;
    const name = `${now()} ${text}`;
    const token = tokens.get(name) ?? mintFor(text);
    tokens.set(name, token);
    return `Bearer ${await token}`;
  }

  function mintFor(text: string): Promise<string> {
    const userId = Buffer.from(text).toString('hex');
    const [, scope = '', account_id = ''] = text.split('|');
    return mint({ sub: userId, sid: `${userId}-session`, client_id: clientId, account_id, scope });
  }

  /** Answers the reading of who asks: client, user and session. */
  async function records({
    input: { RequestItems = {} },
  }: BatchGetCommand): Promise<{ Responses: Record<string, Item[]> }> {
    const keys = Object.values(RequestItems).flatMap(({ Keys = [] }) => Keys);
    const userId = String(keys.find(key => 'userId' in key)?.userId);
    const [role, , accountId] = Buffer.from(userId, 'hex').toString().split('|');
    const common = { version: 1, createdAt: 0, updatedAt: 0, status: 'enabled' };
    const ends = { idleExpiresAt: Number.MAX_SAFE_INTEGER, absoluteExpiresAt: Number.MAX_SAFE_INTEGER };
    return {
      Responses: {
        Clients: [{ ...common, clientId, name: clientId, secrets: [], grants: [], graceSeconds: 0, introspect: false }],
        Users: [{ ...common, userId, email: 'user@example.com', credentialVersion: 1, accountId, role }],
        Sessions: [
          {
            ...{ sessionId: `${userId}-session`, clientId, userId, accountId, userVersion: 1, clientVersion: 1 },
            ...{ scope: '', counter: 1, keyId: 'k', createdAt: 0, rotatedAt: 0, ...ends },
          },
        ],
      },
    };
  }
}

const clientId = 'client';
