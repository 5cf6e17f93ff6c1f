import type { KeyObject } from 'node:crypto';
import { KeyNotFoundError, type Keyring } from '../../platform/keyring.ts';
import type { Client } from '../principals/client.ts';
import { formatScope, type Scope } from '../principals/scope.ts';
import type { AccessTokenSubject } from '../sessions/access-token.ts';
import { writeRefreshToken } from '../sessions/refresh-token.ts';
import type { Session } from '../sessions/session.ts';

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope?: string;
}

/**
 * Makes tokens ready: whatever can fail does so here, before a session is stored or rotated. Else a request that ends
 * with "try again" would have used up the very token to try again with.
 */
export type PrepareTokens = (subject: TokenSubject) => Promise<ReadyTokens>;

/** What issuing needs; the keyring must be able to open MAC keys. */
export interface TokenIssueDependencies {
  readonly mint: (subject: AccessTokenSubject) => Promise<string>;
  readonly keyring: Pick<Keyring, 'active' | 'find' | 'open'>;
  readonly accessTokenSeconds: number;
}

/** Makes the issuing of tokens: an access token always, a refresh token where the client may use one. */
export function makeTokenIssue({ mint, keyring, accessTokenSeconds }: TokenIssueDependencies): PrepareTokens {
  const openOlder = async (keyId: string): Promise<KeyObject> => {
    const key = await keyring.find('mac', keyId);
    if (!key) throw new KeyNotFoundError('mac');
    return keyring.open(key);
  };

  return async function tokenIssue({ client, session: { sessionId, userId, accountId }, scopes }) {
    const scope = formatScope(scopes);
    const active = await keyring.active('mac');
    const macKey = await keyring.open(active);
    const accessToken = await mint({
      sub: userId,
      client_id: client.clientId,
      account_id: accountId,
      sid: sessionId,
      scope,
    });
    const mayRefresh = client.grants.includes('refresh_token');
    const refreshTokenOf = async (session: Session): Promise<string> =>
      writeRefreshToken(session, session.keyId === active.keyId ? macKey : await openOlder(session.keyId));

    return {
      keyId: active.keyId,
      write: async session => ({
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: accessTokenSeconds,
        ...(mayRefresh ? { refresh_token: await refreshTokenOf(session) } : {}),
        ...(scope === '' ? {} : { scope }),
      }),
    };
  };
}

/** What tokens are issued for: a session that may not be stored yet. */
interface TokenSubject {
  readonly client: Client;
  readonly session: Pick<Session, 'sessionId' | 'userId' | 'accountId'>;
  readonly scopes: ReadonlySet<Scope>;
}

/** Tokens that only wait for their session to be stored. */
interface ReadyTokens {
  /** The MAC key to store a new or rotated session with: it is open already. */
  readonly keyId: string;
  /** For the session as it is stored now. Nothing is called for one that was stored with `keyId`. */
  write(session: Session): Promise<TokenResponse>;
}
