import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Log } from '../../platform/telemetry.ts';
import type { Time } from '../../platform/timer.ts';
import type { GrantType } from '../principals/client.ts';
import type { PasswordHashing } from '../principals/password-hash.ts';
import type { UserTables } from '../principals/user.ts';
import { makeLockout } from '../protection/lockout.ts';
import { makeClientRateLimit } from '../protection/rate-limit.ts';
import { makeAccessTokenMint } from '../sessions/access-token.ts';
import { makeRefreshTokenVerification } from '../sessions/refresh-token.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import type { Grant } from './grant.ts';
import { makePasswordGrant } from './password.ts';
import { makeTokenPreparation } from './prepare-tokens.ts';
import { makeRefreshTokenGrant } from './refresh-token.ts';
import { makeStartSession } from './start-session.ts';

/** The grants, by `grant_type`. */
export type Grants = Readonly<Record<GrantType, Grant>>;

export function makeGrants(parts: GrantParts): Grants {
  const { dynamo, tables, keyring, now } = parts;
  const shared = {
    ...parts,
    sessions: makeSessionStore({ ...parts, table: tables.sessions }),
    lockout: makeLockout({ ...parts, table: tables.lockouts }),
    prepareTokens: makeTokenPreparation({ keyring, mintAccessToken: makeAccessTokenMint(parts) }),
  };
  return {
    password: makePasswordGrant({
      ...shared,
      clientRateLimit: makeClientRateLimit({ dynamo, table: tables.lockouts, now, limit: parts.clientFailureLimit }),
      startSession: makeStartSession(shared),
    }),
    refresh_token: makeRefreshTokenGrant({ ...shared, verifyRefreshToken: makeRefreshTokenVerification(keyring) }),
  };
}

interface GrantParts extends Pick<Time, 'now' | 'after'> {
  readonly dynamo: Dynamo;
  readonly tables: UserTables & { readonly sessions: string; readonly lockouts: string };
  /** Must be able to open signing and MAC keys. */
  readonly keyring: Keyring;
  readonly passwords: PasswordHashing;
  readonly issuer: string;
  readonly audience: string;
  /** The maximum number of rejected passwords per client and minute. */
  readonly clientFailureLimit: number;
  readonly log: Log;
  readonly makeId: MakeId;
}
