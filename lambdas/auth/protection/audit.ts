import type { Log } from '../../platform/telemetry.ts';
import type { OAuthError } from '../oauth-error.ts';
import type { GrantType } from '../principals/client.ts';

/**
 * What becomes known of a request while it is decided; one line of the audit trail in the end. Only what was verified
 * gets in: a client id that is none may be anything a caller mistook for one, a password included.
 */
export interface AuditContext {
  /** As the gateway saw it. */
  readonly address: string;
  readonly endpoint: 'token' | 'revoke' | 'introspect';
  grant?: GrantType;
  clientId?: string;
  userId?: string;
  sessionId?: string;
  /** How it was granted, where there are several ways, such as `grace`. */
  reason?: string;
}

/** Writes the audit trail: one structured line and one metric per auditContext, and never a secret in either. */
export interface Audit {
  granted(auditContext: AuditContext): void;
  refused(auditContext: AuditContext, error: OAuthError): void;
}

/** What the audit needs. */
export interface AuditDependencies {
  readonly log: Log;
  /** Adds one to the metric of that name. */
  readonly count: (metric: string) => void;
}

/** The reason code of a refresh token that was used twice: somebody else has a copy. */
export const reuseReason = 'refresh_token_reused';

/** Makes the audit over a function's logger and metrics. */
export function makeAudit({ log, count }: AuditDependencies): Audit {
  return {
    granted: auditContext => {
      log.info(`${auditContext.endpoint}.granted`, { outcome: 'granted', ...auditContext });
      count(grantedMetric[auditContext.endpoint]);
    },
    refused: (auditContext, error) => {
      const line = { ...auditContext, outcome: 'refused', error: error.code, reason: error.reason };
      if (error.status >= 500) log.error(`${auditContext.endpoint}.refused`, line);
      else log.warn(`${auditContext.endpoint}.refused`, line);
      count(pascalCase(error.code));
      if (error.reason === reuseReason) count('RefreshTokenReuse');
      if (error.oauthCase === 'dependency_unavailable') count('DependencyUnavailable'); // its code is that of a limit too
    },
  };
}

const grantedMetric: Record<AuditContext['endpoint'], string> = {
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
