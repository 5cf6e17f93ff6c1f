import { KeyNotFoundError, type Keyring } from '../platform/keyring.ts';
import type { AccessTokenSubject } from './access-token.ts';
import type { Client } from './client.ts';
import type { Family } from './family.ts';
import { writeRefreshToken } from './refresh-token.ts';
import { formatScope, type Scope } from './scope.ts';

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope?: string;
}

/** What tokens are issued for. */
interface TokenSubject {
  readonly client: Client;
  /** As it is after this request: its counter and key are those of the refresh token to give. */
  readonly family: Family;
  readonly scopes: ReadonlySet<Scope>;
}

/** Writes the tokens of a family. */
export type IssueTokens = (subject: TokenSubject) => Promise<TokenResponse>;

/** What issuing stands on; the keyring must be able to open MAC keys. */
export interface TokenIssueDependencies {
  readonly mint: (subject: AccessTokenSubject) => Promise<string>;
  readonly keyring: Pick<Keyring, 'find' | 'open'>;
  readonly accessTokenSeconds: number;
}

/** Makes the issuing of tokens: an access token always, a refresh token where the client may use one. */
export const makeTokenIssue = ({ mint, keyring, accessTokenSeconds }: TokenIssueDependencies): IssueTokens => {
  const refreshTokenOf = async (family: Family): Promise<string> => {
    const key = await keyring.find('mac', family.keyId);
    if (!key) throw new KeyNotFoundError('mac');
    return writeRefreshToken(family, await keyring.open(key));
  };

  return async ({ client, family, scopes }) => {
    const scope = formatScope(scopes);
    const mayRefresh = client.grants.includes('refresh_token');
    return {
      access_token: await mint({
        sub: family.userId,
        client_id: client.clientId,
        account_id: family.accountId,
        sid: family.familyId,
        scope,
      }),
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      ...(mayRefresh ? { refresh_token: await refreshTokenOf(family) } : {}),
      ...(scope === '' ? {} : { scope }),
    };
  };
};
