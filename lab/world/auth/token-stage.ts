import type { ProcessRuntime } from '@emissor/cloud/virtual';
import type { composeIntrospect } from '../../../lambdas/auth/endpoints/introspect.composition.ts';
import type { composeRevoke } from '../../../lambdas/auth/endpoints/revoke.composition.ts';
import type { composeToken } from '../../../lambdas/auth/endpoints/token.composition.ts';
import type { Runtime } from '../../../lambdas/platform/runtime.ts';
import { stageConfiguration } from '../../../lib/config.ts';
import type { WorldTelemetry } from '../world-telemetry.ts';
import type { Journal } from './journal.ts';

/** The compositions of a token world. Tests pass faulty compositions to check that the world detects faults. */
export interface TokenCompositions {
  readonly token: typeof composeToken;
  readonly revoke: typeof composeRevoke;
  readonly introspect: typeof composeIntrospect;
  readonly operate: (runtime: TokenRuntime) => (command: never) => Promise<void>;
}

/** The part of the runtime that token functions use. */
export type TokenRuntime = Pick<Runtime, 'time' | 'random' | 'dynamo' | 'kms' | 'keyDerivation'>;

/** The dependencies of the functions in a token world. */
export interface TokenStage {
  readonly compositions: TokenCompositions;
  readonly journal: Journal;
  readonly runtimeOf: (process: ProcessRuntime) => TokenRuntime;
  readonly telemetryOf: (service: string, process: ProcessRuntime) => WorldTelemetry;
}

export const issuer = 'https://auth.example.com';
export const audience = 'https://api.example.com';

/** The maximum number of rejected passwords per client and minute. It is lower than in production, so that a few guesses reach it. */
export const clientFailureLimit = 30;

/** The environment of the revocation and introspection functions. */
export const presentedTokenEnvironment = {
  ...stageConfiguration('dev'),
  clientFailureLimit,
  clientsTable: 'Clients',
  usersTable: 'Users',
  sessionsTable: 'Sessions',
  lockoutsTable: 'Lockouts',
  keyringTable: 'Keyring',
  issuer,
  audience,
};

export const tokenEnvironment = {
  ...presentedTokenEnvironment,
  credentialsTable: 'Credentials',
};
