import type { Log } from '../../platform/telemetry.ts';
import type { OAuthError } from '../oauth-error.ts';
import { isReservedAccount } from '../principals/account.ts';
import type { GrantType } from '../principals/client.ts';
import type { User } from '../principals/user.ts';

/**
 * The verified facts about a request, for its line in the audit trail. Unverified values are excluded, because they may be secrets, such as
 * a password in the client id field.
 */
export interface AuditContext {
  /** The caller's IP address according to the gateway. */
  readonly ip: string;
  readonly endpoint: 'token' | 'revoke' | 'introspect';
  grant?: GrantType;
  clientId?: string;
  /** The creation time of the presented secret, which identifies the secret. During a replacement, a client has two secrets. */
  secretCreatedAt?: string;
  userId?: string;
  /** The account id, set only for smoke tests. */
  account?: string;
  sessionId?: string;
  /** The reason for the outcome, such as `grace`, if there are several possible reasons. */
  reason?: string;
}

/** The metrics for granted requests and reused refresh tokens. Rejected requests are counted by error code. */
type AuditMetric = 'TokenIssued' | 'TokenRefreshed' | 'TokenRevoked' | 'TokenIntrospected' | 'RefreshTokenReuse';

/** The reason code for a reused refresh token. Reuse means that the token was copied. */
export const reuseReason = 'refresh_token_reused';

/** Records the user of a request. Also records the account of smoke tests, because the metrics exclude their successes. */
export function recordUser(auditContext: AuditContext, user: Pick<User, 'userId' | 'accountId'>): void {
  auditContext.userId = user.userId;
  if (isReservedAccount(user.accountId)) auditContext.account = user.accountId;
}

/** Creates the audit trail. It writes one structured line without secrets per request and counts outcomes as metrics. */
export function makeAudit({
  log,
  count,
}: {
  readonly log: Log;
  /** Increments a metric. */
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
