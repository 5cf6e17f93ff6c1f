import type { KeyObject } from 'node:crypto';
import { KeyNotFoundError, type Keyring } from '../../platform/keyring.ts';
import { accessTokenSeconds } from '../lifetimes.ts';
import { type Client, mayRefresh } from '../principals/client.ts';
import { formatScope, type Scope } from '../principals/scope.ts';
import type { TokenResponse } from '../responses.ts';
import type { AccessTokenSubject } from '../sessions/access-token.ts';
import { writeRefreshToken } from '../sessions/refresh-token.ts';
import type { Session } from '../sessions/session.ts';

/**
 * Makes all calls that can fail while tokens are issued. The caller stores or rotates the session afterwards. Otherwise, a call that fails
 * after the rotation would leave the client without a current refresh token.
 */
export type PrepareTokens = (subject: TokenSubject) => Promise<PreparedTokens>;

/** Creates the function that prepares an access token and, if the client may refresh, a refresh token. */
export function makeTokenPreparation({
  keyring,
  mintAccessToken,
}: {
  /** Must be able to open MAC keys. */
  readonly keyring: Pick<Keyring, 'active' | 'find' | 'open'>;
  readonly mintAccessToken: (subject: AccessTokenSubject, seconds: number) => Promise<string>;
}): PrepareTokens {
  return async function prepareTokens({ client, session, remainingSeconds, scopes }) {
    const { sessionId, userId, accountId } = session;
    const scope = formatScope(scopes);
    const seconds = Math.min(accessTokenSeconds, remainingSeconds); // the token must not outlive its session
    const subject = { sub: userId, client_id: client.clientId, account_id: accountId, sid: sessionId, scope };
    const accessToken = await mintAccessToken(subject, seconds); // issued first, because its lifetime starts now
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

/** The client, session and scopes of the tokens. The session may not be stored yet. */
interface TokenSubject {
  readonly client: Client;
  readonly session: Pick<Session, 'sessionId' | 'userId' | 'accountId'>;
  /** The number of seconds until the session expires if it is not used again. */
  readonly remainingSeconds: number;
  readonly scopes: ReadonlySet<Scope>;
}

/** Prepared tokens, which `write` completes once their session is stored. */
interface PreparedTokens {
  /** The id of the active MAC key. The caller stores this id with a new or rotated session. */
  readonly keyId: string;
  /** Returns the tokens of a stored session. Makes no call to AWS if the session uses the active MAC key. */
  write(session: Session): Promise<TokenResponse>;
}
