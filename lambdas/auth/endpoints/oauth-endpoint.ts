import { callerIp, type HttpRequest, type HttpResponse } from '../../platform/http.ts';
import type { Log } from '../../platform/telemetry.ts';
import { type MakeOAuthError, OAuthError } from '../oauth-error.ts';
import { type AuditContext, makeAudit } from '../protection/audit.ts';
import { type authRoutes, type FormCase, type OAuthCase, oauthCases } from '../routes.ts';
import { errorResponse, okResponse, toOAuthError } from './oauth-response.ts';

export interface EndpointParts {
  readonly log: Log;
  /** Adds one to a metric. */
  readonly count: (metric: string) => void;
}

/** Creates the errors that an endpoint may return, which are the errors of its route and of every form. */
export type MakeEndpointError<Endpoint extends EndpointName> = MakeOAuthError<FormCase | EndpointCases[Endpoint]>;

/** Creates an endpoint that converts errors to responses and writes each outcome to the audit trail. */
export function makeOAuthEndpoint<Endpoint extends EndpointName, Body extends object>({
  endpoint,
  log,
  count,
  handle,
}: EndpointParts & {
  readonly endpoint: Endpoint;
  /** Returns the body of a 200 response, or throws an error from `makeError`. Adds verified facts to the audit context. */
  readonly handle: (
    request: HttpRequest,
    auditContext: AuditContext,
    makeError: MakeEndpointError<Endpoint>,
  ) => Promise<Body>;
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
