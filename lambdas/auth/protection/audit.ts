import type { Log } from '../../platform/telemetry.ts';
import type { OAuthError } from '../oauth-error.ts';
import { isReservedAccount } from '../principals/account.ts';
import type { GrantType } from '../principals/client.ts';
import type { User } from '../principals/user.ts';

/**
 * The verified facts of a request, which its line in the audit trail contains. An unverified value may be a secret, such as a password in
 * the field of the client id.
 */
export interface AuditContext {
  /** The caller's IP address according to the gateway. */
  readonly ip: string;
  readonly endpoint: 'token' | 'revoke' | 'introspect';
  grant?: GrantType;
  clientId?: string;
  /** The creation time of the presented secret, because a client has two secrets during a replacement. */
  secretCreatedAt?: string;
  userId?: string;
  /** The account id, set only for smoke tests. */
  account?: string;
  sessionId?: string;
  /** The reason for the outcome, if there are several, such as `grace`. */
  reason?: string;
}

/** The metrics of grants and token theft. Rejected requests are counted by error code. */
type AuditMetric = 'TokenIssued' | 'TokenRefreshed' | 'TokenRevoked' | 'TokenIntrospected' | 'RefreshTokenReuse';

/** The reason code for a reused refresh token, which means that a copy of the token exists. */
export const reuseReason = 'refresh_token_reused';

/** Records the user of a request. For smoke tests, also records the account, because the metrics exclude their successes. */
export function recordUser(
  auditContext: AuditContext,
  { userId, accountId }: Pick<User, 'userId' | 'accountId'>,
): void {
  auditContext.userId = userId;
  if (isReservedAccount(accountId)) auditContext.account = accountId;
}

/** Creates the audit trail, which writes one structured line without secrets and counts one metric per request. */
export function makeAudit({
  log,
  count,
}: {
  readonly log: Log;
  /** Adds one to a metric. */
  readonly count: (metric: string) => void;
}) {
  const countAudited: (metric: AuditMetric) => void = count;
  return { recordGrant, recordRejection };

  function recordGrant(auditContext: AuditContext): void {
    log.info(`${auditContext.endpoint}.granted`, { outcome: 'granted', ...auditContext });
    if (auditContext.account !== undefined) return;
    countAudited(auditContext.grant === 'refresh_token' ? 'TokenRefreshed' : grantedMetric[auditContext.endpoint]);
  }

  function recordRejection(auditContext: AuditContext, error: OAuthError): void {
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

/** Converts `invalid_grant` to `InvalidGrant`. */
function pascalCase(code: string): string {
  return code
    .split('_')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
