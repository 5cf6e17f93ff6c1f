import { callerIp, type HttpRequest, type HttpResponse } from '../../platform/http.ts';
import type { Log } from '../../platform/telemetry.ts';
import { type AuditContext, makeAudit } from '../protection/audit.ts';
import { asOAuthError, errorResponse, okResponse } from './oauth-response.ts';

/** The parts of every endpoint. */
export interface EndpointParts {
  readonly log: Log;
  /** Adds one to the metric of that name. */
  readonly count: (metric: string) => void;
}

/** Makes the edge of an endpoint: the one place where errors become responses and outcomes become audit lines. */
export function makeOAuthEndpoint<Answer extends object>({
  endpoint,
  log,
  count,
  answer,
}: EndpointParts & {
  readonly endpoint: AuditContext['endpoint'];
  /** Returns the body of a 200, or throws; adds what it learns to the audit context. */
  readonly answer: (request: HttpRequest, auditContext: AuditContext) => Promise<Answer>;
}) {
  const audit = makeAudit({ log, count });

  return async function oauthEndpoint(request: HttpRequest): Promise<HttpResponse> {
    const auditContext: AuditContext = { endpoint, ip: callerIp(request) };
    try {
      const body = await answer(request, auditContext);
      audit.granted(auditContext);
      return okResponse(body);
    } catch (cause) {
      const error = asOAuthError(cause, log);
      audit.refused(auditContext, error);
      return errorResponse(error);
    }
  };
}
