import type { Log } from '../../platform/telemetry.ts';
import type { OAuthError } from '../oauth-error.ts';
import { isReservedAccount } from '../principals/account.ts';
import type { GrantType } from '../principals/client.ts';
import type { User } from '../principals/user.ts';

/**
 * The facts of a request as they become known, for its line in the audit trail. Only verified values belong here: an
 * unverified client id may be anything that a caller mistook for one, a password included.
 */
export interface AuditContext {
  /** The caller's IP address as the gateway saw it. */
  readonly ip: string;
  readonly endpoint: 'token' | 'revoke' | 'introspect';
  grant?: GrantType;
  clientId?: string;
  /** The time at which the secret was made that authenticated the client: it has two while one is replaced. */
  secretOf?: string;
  userId?: string;
  /** The account, of smoke tests alone. */
  account?: string;
  sessionId?: string;
  /** The way in which the request was granted, if there are several, such as `grace`. */
  reason?: string;
}

/** The metrics of what is granted, and of theft; what is refused is counted by its code. */
type AuditMetric = 'TokenIssued' | 'TokenRefreshed' | 'TokenRevoked' | 'TokenIntrospected' | 'RefreshTokenReuse';

/** The reason code of a refresh token that was used again: somebody else has a copy. */
export const reuseReason = 'refresh_token_reused';

/** Notes whom a request is about. What goes well for a smoke test is counted by the test itself, and by nothing else. */
export function noteUser(auditContext: AuditContext, { userId, accountId }: Pick<User, 'userId' | 'accountId'>): void {
  auditContext.userId = userId;
  if (isReservedAccount(accountId)) auditContext.account = accountId;
}

/** Makes the audit trail: one structured line and one metric per request, but for smoke tests, with no secret in either. */
export function makeAudit({
  log,
  count,
}: {
  readonly log: Log;
  /** Adds one to the metric of that name. */
  readonly count: (metric: string) => void;
}) {
  const countAudited: (metric: AuditMetric) => void = count;
  return { granted, refused };

  function granted(auditContext: AuditContext): void {
    log.info(`${auditContext.endpoint}.granted`, { outcome: 'granted', ...auditContext });
    if (auditContext.account !== undefined) return;
    countAudited(auditContext.grant === 'refresh_token' ? 'TokenRefreshed' : grantedMetric[auditContext.endpoint]);
  }

  function refused(auditContext: AuditContext, error: OAuthError): void {
    const line = { ...auditContext, outcome: 'refused', error: error.code, reason: error.reason };
    if (error.status >= 500) log.error(`${auditContext.endpoint}.refused`, line);
    else log.warn(`${auditContext.endpoint}.refused`, line);
    count(pascalCase(error.code));
    if (error.reason === reuseReason) countAudited('RefreshTokenReuse');
  }
}

const grantedMetric: Record<AuditContext['endpoint'], AuditMetric> = {
  token: 'TokenIssued',
  revoke: 'TokenRevoked',
  introspect: 'TokenIntrospected',
};

/** `invalid_grant` -> `InvalidGrant` */
function pascalCase(code: string): string {
  return code
    .split('_')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
