import { callerIp, type HttpRequest, type HttpResponse } from '../../platform/http.ts';
import type { Log } from '../../platform/telemetry.ts';
import { OAuthError, type Refuse } from '../oauth-error.ts';
import { type AuditContext, makeAudit } from '../protection/audit.ts';
import { type authRoutes, type FormRefusal, type OAuthCase, oauthCases } from '../routes.ts';
import { asOAuthError, errorResponse, okResponse } from './oauth-response.ts';

export interface EndpointParts {
  readonly log: Log;
  /** Adds one to a metric. */
  readonly count: (metric: string) => void;
}

/** Creates the errors that an endpoint may return, which are the errors of its route and of every form. */
export type RefuseAt<Endpoint extends EndpointName> = Refuse<FormRefusal | Listed[Endpoint]>;

/** Creates an endpoint that converts errors to responses and writes each outcome to the audit trail. */
export function makeOAuthEndpoint<Endpoint extends EndpointName, Body extends object>({
  endpoint,
  log,
  count,
  handle,
}: EndpointParts & {
  readonly endpoint: Endpoint;
  /** Returns the body of a 200 response, or throws an error of `refuse`. Adds verified facts to the audit context. */
  readonly handle: (request: HttpRequest, auditContext: AuditContext, refuse: RefuseAt<Endpoint>) => Promise<Body>;
}) {
  const audit = makeAudit({ log, count });

  return async function oauthEndpoint(request: HttpRequest): Promise<HttpResponse> {
    const auditContext: AuditContext = { endpoint, ip: callerIp(request) };
    try {
      const body = await handle(request, auditContext, refuse);
      audit.granted(auditContext);
      return okResponse(body);
    } catch (cause) {
      const error = asOAuthError(cause, log);
      audit.refused(auditContext, error);
      return errorResponse(error);
    }
  };
}

type EndpointName = AuditContext['endpoint'];

interface Listed extends Record<EndpointName, OAuthCase> {
  readonly token: (typeof authRoutes.Token.operations.issueToken.refusals)[number];
  readonly revoke: (typeof authRoutes.Revoke.operations.revokeToken.refusals)[number];
  readonly introspect: (typeof authRoutes.Introspect.operations.introspectToken.refusals)[number];
}

const refuse = OAuthError.from(oauthCases);
