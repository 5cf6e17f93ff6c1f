import type { ProcessOutside } from '@emissor/virtual-cloud';
import type { composeIntrospect } from '../../../lambdas/auth/endpoints/introspect.composition.ts';
import type { composeRevoke } from '../../../lambdas/auth/endpoints/revoke.composition.ts';
import type { composeToken } from '../../../lambdas/auth/endpoints/token.composition.ts';
import type { Outside } from '../../../lambdas/platform/outside.ts';
import type { WorldTelemetry } from '../world-telemetry.ts';
import type { Journal } from './journal.ts';

/** The compositions that a world of tokens runs. A test gives others to see that their fault is found. */
export interface TokenCompositions {
  readonly token: typeof composeToken;
  readonly revoke: typeof composeRevoke;
  readonly introspect: typeof composeIntrospect;
}

/** What leads out of the processes of this world. */
export type TokenOutside = Pick<Outside, 'time' | 'random' | 'dynamo' | 'kms' | 'keyDerivation'>;

/** What the functions of a world of tokens are made with. */
export interface TokenStage {
  readonly compositions: TokenCompositions;
  readonly journal: Journal;
  readonly outsideOf: (process: ProcessOutside) => TokenOutside;
  readonly telemetryOf: (service: string, process: ProcessOutside) => WorldTelemetry;
}

/** The hosts of the stage. */
export const issuer = 'https://auth.example.com';
export const audience = 'https://api.example.com';

/** Lives of tokens and sessions, in seconds, as `lib/stage-values.ts` has them. */
export const accessTokenSeconds = 900;
export const refreshIdleSeconds = 14 * 86_400;

const shared = {
  CLIENTS_TABLE: 'Clients',
  USERS_TABLE: 'Users',
  SESSIONS_TABLE: 'Sessions',
  LOCKOUTS_TABLE: 'Lockouts',
  KEYRING_TABLE: 'Keyring',
  IP_FAILURE_LIMIT: 100,
  FORMER_HOST: undefined,
  FORMER_HOST_SUNSET: undefined,
};

/** The environment of the token function. */
export const tokenEnvironment = {
  ...shared,
  CREDENTIALS_TABLE: 'Credentials',
  ISSUER: issuer,
  AUDIENCE: audience,
  ACCESS_TOKEN_SECONDS: accessTokenSeconds,
  REFRESH_IDLE_SECONDS: refreshIdleSeconds,
  REFRESH_ABSOLUTE_SECONDS: 90 * 86_400,
  CLIENT_FAILURE_LIMIT: 300,
  OTHER_PASSWORD_HASHES: 'imported' as const,
};

/** The environment of the functions that take any token. */
export const presentedTokenEnvironment = { ...shared, ISSUERS: [issuer] as const, AUDIENCES: [audience] as const };
