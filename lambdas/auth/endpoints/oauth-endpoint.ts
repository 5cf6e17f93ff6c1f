import { callerIp, type HttpRequest, type HttpResponse } from '../../platform/http.ts';
import type { Log } from '../../platform/telemetry.ts';
import { type MakeOAuthError, OAuthError } from '../oauth-error.ts';
import { type AuditContext, makeAudit } from '../protection/audit.ts';
import { type authRoutes, type FormCase, type OAuthCase, oauthCases } from '../routes.ts';
import { errorResponse, okResponse, toOAuthError } from './oauth-response.ts';

export interface EndpointParts {
  readonly log: Log;
  /** Increments a metric. */
  readonly count: (metric: string) => void;
}

/** Creates the errors that the endpoint's route lists and the errors that all form requests can cause. */
export type MakeEndpointError<Name extends EndpointName> = MakeOAuthError<FormCase | EndpointCases[Name]>;

/** Creates an endpoint that converts errors to responses and records each outcome in the audit trail. */
export function makeOAuthEndpoint<Name extends EndpointName, Body extends object>({
  endpoint,
  log,
  count,
  handle,
}: EndpointParts & {
  readonly endpoint: Name;
  /** Returns the body of a 200 response, or throws an error that `makeError` created. Adds verified facts to the context. */
  readonly handle: (request: HttpRequest, context: AuditContext, makeError: MakeEndpointError<Name>) => Promise<Body>;
}) {
  const audit = makeAudit({ log, count });

  return async function oauthEndpoint(request: HttpRequest): Promise<HttpResponse> {
    const auditContext: AuditContext = { endpoint, ip: callerIp(request) };
    try {
      const body = await handle(request, auditContext, makeError);
      audit.recordGrant(auditContext);
      return okResponse(body);
    } catch (cause) {
      const error = toOAuthError(cause, log);
      audit.recordRejection(auditContext, error);
      return errorResponse(error);
    }
  };
}

type EndpointName = AuditContext['endpoint'];

interface EndpointCases extends Record<EndpointName, OAuthCase> {
  readonly token: (typeof authRoutes.Token.operations.issueToken.errors)[number];
  readonly revoke: (typeof authRoutes.Revoke.operations.revokeToken.errors)[number];
  readonly introspect: (typeof authRoutes.Introspect.operations.introspectToken.errors)[number];
}

const makeError = OAuthError.from(oauthCases);
