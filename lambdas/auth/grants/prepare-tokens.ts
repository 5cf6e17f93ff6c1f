import type { KeyObject } from 'node:crypto';
import { KeyNotFoundError, type Keyring } from '../../platform/keyring.ts';
import type { TokenResponse } from '../answers.ts';
import { accessTokenSeconds } from '../lifetimes.ts';
import { type Client, mayRefresh } from '../principals/client.ts';
import { formatScope, type Scope } from '../principals/scope.ts';
import type { AccessTokenSubject } from '../sessions/access-token.ts';
import { writeRefreshToken } from '../sessions/refresh-token.ts';
import type { Session } from '../sessions/session.ts';

/**
 * Does everything about new tokens that can fail, before a session is stored or rotated. Otherwise a request that ends
 * with 503 would have used up the very refresh token to try again with.
 */
export type PrepareTokens = (subject: TokenSubject) => Promise<PreparedTokens>;

/** Makes the preparation of tokens: an access token always, a refresh token if the client is allowed to refresh. */
export function makeTokenPreparation({
  keyring,
  mintAccessToken,
}: {
  /** Must be able to open MAC keys. */
  readonly keyring: Pick<Keyring, 'active' | 'find' | 'open'>;
  readonly mintAccessToken: (subject: AccessTokenSubject, seconds: number) => Promise<string>;
}): PrepareTokens {
  return async function prepareTokens({ client, session, secondsLeft, scopes }) {
    const { sessionId, userId, accountId } = session;
    const scope = formatScope(scopes);
    const seconds = Math.min(accessTokenSeconds, secondsLeft); // the token ends with its session
    const subject = { sub: userId, client_id: client.clientId, account_id: accountId, sid: sessionId, scope };
    const accessToken = await mintAccessToken(subject, seconds); // first, since its seconds count from now
    const active = await keyring.active('mac');
    const macKey = await keyring.open(active);
    return { keyId: active.keyId, write };

    async function write(session: Session): Promise<TokenResponse> {
      return {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: seconds,
        ...(mayRefresh(client) ? { refresh_token: await refreshTokenOf(session) } : {}),
        ...(scope === '' ? {} : { scope }),
      };
    }

    async function refreshTokenOf(session: Session): Promise<string> {
      return writeRefreshToken(session, session.keyId === active.keyId ? macKey : await openMacKey(session.keyId));
    }
  };

  async function openMacKey(keyId: string): Promise<KeyObject> {
    const key = await keyring.find('mac', keyId);
    if (!key) throw new KeyNotFoundError('mac');
    return keyring.open(key);
  }
}

/** The subject of issued tokens: a session that may not be stored yet. */
interface TokenSubject {
  readonly client: Client;
  readonly session: Pick<Session, 'sessionId' | 'userId' | 'accountId'>;
  /** The seconds that the session lives from now on if nobody uses it again. */
  readonly secondsLeft: number;
  readonly scopes: ReadonlySet<Scope>;
}

/** Tokens that are complete but for the session they belong to. */
interface PreparedTokens {
  /** The MAC key to store a new or rotated session with; it is opened already. */
  readonly keyId: string;
  /** Writes the tokens of a session as it is stored. Calls nothing if the session is stored with `keyId`. */
  write(session: Session): Promise<TokenResponse>;
}
