import type { Environment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { revokeEnvironment } from '../environment.ts';
import { makeAccessTokenVerification } from '../sessions/access-token.ts';
import { makeRefreshTokenVerification } from '../sessions/refresh-token.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makePresentedTokenReader } from './presented-token.ts';

/** Composes the function that reads the client and the token of a revocation or introspection request. */
export function composePresentedToken(
  environment: Environment<typeof revokeEnvironment>,
  { dynamo, kms, time }: Pick<Runtime, 'dynamo' | 'kms' | 'time'>,
) {
  const { issuer, audience } = environment;
  const keyring = makeKeyring({ ...time, dynamo, kms, table: environment.keyringTable });
  keyring.prefetch('mac');
  return makePresentedTokenReader({
    dynamo,
    clientAuthentication: makeClientAuthentication({ ...time, table: environment.clientsTable }),
    verifyRefreshToken: makeRefreshTokenVerification(keyring),
    verifyAccessToken: makeAccessTokenVerification({ ...time, keyring, issuer, audience }),
  });
}
