import type { KMSClient } from '@aws-sdk/client-kms';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { callerIp, type HttpRequest, type HttpResponse } from '../../platform/http.ts';
import type { Log } from '../../platform/telemetry.ts';
import { type AuditContext, makeAudit } from '../protection/audit.ts';
import { asOAuthError, errorResponse, okResponse } from './oauth-response.ts';

/** What a handler hands to the endpoint it composes: its environment, its clients, and the clock. */
export interface EndpointDependencies<Environment> {
  readonly environment: Environment;
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly log: Log;
  /** Adds one to the metric of that name. */
  readonly count: (metric: string) => void;
  readonly now: Clock;
}

/** Makes the edge of an endpoint: the one place where errors become responses and outcomes become audit lines. */
export function makeOAuthEndpoint<Answer extends object>({
  endpoint,
  log,
  count,
  answer,
}: {
  readonly endpoint: AuditContext['endpoint'];
  readonly log: Log;
  readonly count: (metric: string) => void;
  /** Gives the body of a 200, or throws; adds what it learns to the audit context. */
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
