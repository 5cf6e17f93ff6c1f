import { isUnavailable } from '../../platform/aws/dynamo.ts';
import type { HttpResponse } from '../../platform/http.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthErrorBody } from '../responses.ts';
import { serviceCases } from '../routes.ts';

/** Returns a 200 response that must not be cached. */
export function okResponse(body: object): HttpResponse {
  return {
    statusCode: 200,
    headers: jsonUncached,
    body: JSON.stringify(body),
  };
}

/** Returns the response for an error (RFC 6749 section 5.2). */
export function errorResponse(error: OAuthError): HttpResponse {
  const body: OAuthErrorBody = { error: error.code, error_description: error.description };
  return {
    statusCode: error.status,
    headers: {
      ...jsonUncached,
      ...(error.status === 401 ? challenge : {}),
      ...(error.oauthCase === 'method_not_post' ? { allow: 'POST' } : {}),
      ...(error.oauthCase === 'method_not_get' ? { allow: 'GET, HEAD' } : {}),
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    },
    body: JSON.stringify(body),
  };
}

/** Returns the error to respond with. Logs an unexpected error and converts it to an opaque 503 or 500. */
export function toOAuthError(error: unknown, log: Log): OAuthError {
  if (error instanceof OAuthError) return error;
  if (isUnavailable(error)) {
    log.error('dependency.unavailable', describeError(error));
    return serviceError('dependency_unavailable', { retryAfterSeconds: 1 });
  }
  log.error('request.failed', describeError(error));
  return serviceError('internal_error');
}

const serviceError = OAuthError.from(serviceCases);

/** The headers of every response about tokens (RFC 6749 section 5.1). */
const jsonUncached = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' };

/** The challenge of RFC 6749 section 5.2. It contains the error, because some client libraries show the challenge instead of the body. */
const challenge = { 'www-authenticate': 'Basic realm="oauth", error="invalid_client"' };
