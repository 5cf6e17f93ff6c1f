import { isUnavailable } from '../../platform/dynamo.ts';
import { callerIp, type HttpRequest, type HttpResponse } from '../../platform/http.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Audit, AuditContext } from '../protection/audit.ts';
import { errorResponse, okResponse } from './oauth-response.ts';

/** Answers one request with a response body, or throws; notes in the auditContext what it finds out. */
export type Answer = (request: HttpRequest, auditContext: AuditContext) => Promise<object>;

/** What an OAuth endpoint stands on. */
export interface OAuthEndpointDependencies {
  readonly endpoint: AuditContext['endpoint'];
  readonly audit: Audit;
  readonly log: Log;
  readonly answer: Answer;
}

/** The edge of an endpoint: the one place where failures become responses and decisions become audit lines. */
export function makeOAuthEndpoint({ endpoint, audit, log, answer }: OAuthEndpointDependencies) {
  return async function oAuthEndpoint(request: HttpRequest): Promise<HttpResponse> {
    const auditContext: AuditContext = { endpoint, address: callerIp(request) };
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

function asOAuthError(error: unknown, log: Log): OAuthError {
  if (error instanceof OAuthError) return error;
  if (isUnavailable(error)) {
    log.error('dependency.unavailable', describeError(error));
    return new OAuthError('dependency_unavailable', { retryAfterSeconds: 1 });
  }
  log.error('request.failed', describeError(error));
  return new OAuthError('unforeseen');
}
