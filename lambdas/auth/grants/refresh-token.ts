import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userAddress } from '../principals/user.ts';
import type { UserTables } from '../principals/user-store.ts';
import { type Decision, reuseReason } from '../protection/audit.ts';
import { sessionFault } from '../sessions/active-session.ts';
import { makeRefreshTokenVerification, type PresentedRefreshToken } from '../sessions/refresh-token.ts';
import { type Family, familyAddress, isExpired, parseFamily } from '../sessions/session.ts';
import type { FamilyStore } from '../sessions/session-store.ts';
import { type Grant, type GrantRequest, refuseForeignScopes, requestedScope, requireParameter } from './grant.ts';
import type { PrepareTokens, TokenResponse } from './token-issue.ts';

/** What the refresh grant stands on; the keyring must be able to open MAC keys. */
export interface RefreshTokenGrantDependencies {
  readonly userTables: Pick<UserTables, 'users'>;
  readonly familiesTable: string;
  readonly families: Pick<FamilyStore, 'rotateFamily' | 'findFamily' | 'revokeFamily'>;
  readonly keyring: Pick<Keyring, 'find' | 'open'>;
  readonly prepareTokens: PrepareTokens;
  readonly refreshIdleSeconds: number;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/** The refresh grant (RFC 6749 section 6) with rotation and reuse detection (RFC 9700 section 4.14.2). */
export function makeRefreshTokenGrant(dependencies: RefreshTokenGrantDependencies): Grant {
  const { userTables, familiesTable, families, keyring, now, makeId } = dependencies;

  const readOwnToken = makeRefreshTokenVerification(keyring);

  const refuse = (reason: string): never => {
    throw new OAuthError('refresh_token_refused', { reason });
  };

  const rotate = (family: Family, rotationId: string, keyId: string): Promise<Family | undefined> => {
    const idleExpiresAt = now() + dependencies.refreshIdleSeconds * 1_000;
    return families.rotateFamily(family, {
      rotationId,
      keyId,
      rotatedAt: now(),
      idleExpiresAt: Math.min(idleExpiresAt, family.absoluteExpiresAt),
    });
  };

  /** @throws {OAuthError} for a token that has no standing; one that was used twice ends its family. */
  const requireStanding = async (
    token: PresentedRefreshToken,
    client: Client,
    family: Family,
  ): Promise<'current' | 'previous'> => {
    const standing = standingOf(token, family, client, now());
    if (standing.is === 'refused') return refuse(standing.reason);
    if (standing.is !== 'reused') return standing.is;
    await families.revokeFamily(family.familyId, 'reuse', now());
    return refuse(reuseReason);
  };

  /** The family whose token is to be given: rotated by this request, or already by the one it lost to. */
  const succeed = async (
    token: PresentedRefreshToken,
    client: Client,
    family: Family,
    keyId: string,
    decision: Decision,
  ): Promise<Family> => {
    const rotationId = makeId(22);
    let latest: Family | undefined = family;
    for (let turn = 0; turn < turns && latest; turn++) {
      if ((await requireStanding(token, client, latest)) === 'previous') {
        decision.reason = 'grace';
        return latest;
      }
      const rotated = await rotate(latest, rotationId, keyId);
      if (rotated) return rotated;
      latest = await families.findFamily(token.familyId);
      if (latest?.rotationId === rotationId && latest.revokedAt === undefined) return latest; // done, but the answer got lost
    }
    return refuse('refresh_token_unknown');
  };

  const refresh = async (
    token: PresentedRefreshToken,
    requested: ReadonlySet<Scope> | undefined,
    { client, records, decision }: GrantRequest,
  ): Promise<TokenResponse> => {
    decision.familyId = token.familyId;
    decision.userId = token.userId;
    const family = parseFamily(records.family);
    if (!family) return refuse('refresh_token_unknown');
    // before anything that ends the family: else any client could end the sessions of another
    if (family.clientId !== client.clientId) return refuse('refresh_token_of_another_client');
    await requireStanding(token, client, family);
    const user = parseUser(records.user);
    const fault = sessionFault(client, user, family);
    if (fault || !user) return refuse(fault ?? 'user_gone');
    const scopes = scopesToGrant(requested, family, client, user);
    const tokens = await dependencies.prepareTokens({ client, family, scopes });
    return tokens.write(await succeed(token, client, family, tokens.keyId, decision));
  };

  return {
    prepare: async parameters => {
      const presented = requireParameter(parameters, 'refresh_token', tokenRule);
      const requested = requestedScope(parameters);
      const token = await readOwnToken(presented);
      return {
        reads: {
          user: token && userAddress(userTables.users, token.userId),
          family: token && familyAddress(familiesTable, token.familyId),
        },
        issue: async request => {
          refuseForeignScopes(requested, request.client);
          return token ? refresh(token, requested, request) : refuse('refresh_token_forged');
        },
      };
    },
  };
}

function standingOf(token: PresentedRefreshToken, family: Family, client: Client, now: number): Standing {
  if (family.revokedAt !== undefined) return { is: 'refused', reason: 'family_revoked' };
  if (isExpired(family, now)) return { is: 'refused', reason: 'family_expired' };
  if (token.counter === family.counter && token.keyId === family.keyId) return { is: 'current' };
  if (token.counter >= family.counter) return { is: 'refused', reason: 'refresh_token_unknown' };
  const isPrevious = token.counter === family.counter - 1;
  const isInGrace = client.graceSeconds > 0 && now - family.rotatedAt < client.graceSeconds * 1_000;
  return isPrevious && isInGrace ? { is: 'previous' } : { is: 'reused' };
}

/** A family changes hands at most this often between reading and rotating it before something is wrong. */
const turns = 5;

/** The family's scopes that role and client still have, or fewer where fewer are asked for (RFC 6749 section 6). */
function scopesToGrant(
  requested: ReadonlySet<Scope> | undefined,
  family: Family,
  client: Client,
  user: User,
): ReadonlySet<Scope> {
  const original = storedScope(family.scope);
  if (requested && [...requested].some(scope => !original.has(scope))) throw new OAuthError('scope_wider');
  const scopes = commonScopes(requested ?? original, scopesAllowed(client, user));
  if (requested && scopes.size === 0) throw new OAuthError('scope_of_no_role');
  return scopes;
}

const tokenRule = { missing: 'refresh_token_missing', tooLong: 'refresh_token_too_long', mostBytes: 512 } as const;

/** What a presented token is to its family at this moment. */
type Standing =
  | { readonly is: 'current' }
  /** The one before, inside the grace period: whoever presents it lost a race or a response. */
  | { readonly is: 'previous' }
  | { readonly is: 'reused' }
  | { readonly is: 'refused'; readonly reason: string };
