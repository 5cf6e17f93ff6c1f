import type { Client } from '../../../lambdas/auth/principals/client.ts';
import type { RefreshTokenContent } from '../../../lambdas/auth/sessions/refresh-token.ts';
import type { Session } from '../../../lambdas/auth/sessions/session.ts';

/** What a refresh token is in a session that goes on. */
export type TokenState =
  | 'current'
  /** The one before, in the grace period. */
  | 'previous'
  /** One that was exchanged before: somebody else may have a copy. */
  | 'used'
  /** Nothing can be got by it. */
  | 'dead';

/** Returns what a token is, as the contract has it. */
export function tokenStateOf(token: RefreshTokenContent, session: Session, client: Client, now: number): TokenState {
  if (now >= session.idleExpiresAt || now >= session.absoluteExpiresAt || token.counter > session.counter)
    return 'dead';
  if (token.counter === session.counter) return token.keyId === session.keyId ? 'current' : 'dead';
  const isInGrace = now < session.rotatedAt + client.graceSeconds * 1_000;
  return token.counter === session.counter - 1 && isInGrace ? 'previous' : 'used';
}
