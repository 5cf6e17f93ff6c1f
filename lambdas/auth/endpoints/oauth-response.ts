import { isUnavailable } from '../../platform/aws/dynamo.ts';
import type { HttpResponse } from '../../platform/http.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthErrorBody } from '../responses.ts';
import { serviceCases } from '../routes.ts';

/** Returns a 200 response that must not be cached. */
export function okResponse(body: object): HttpResponse {
  return { statusCode: 200, headers: uncachedJson, body: JSON.stringify(body) };
}

/** Returns the response for an error (RFC 6749 section 5.2). */
export function errorResponse(error: OAuthError): HttpResponse {
  const body: OAuthErrorBody = { error: error.code, error_description: error.description };
  return {
    statusCode: error.status,
    headers: {
      ...uncachedJson,
      ...(error.status === 401 ? challenge : {}),
      ...(error.oauthCase === 'method_not_post' ? { allow: 'POST' } : {}),
      ...(error.oauthCase === 'method_not_get' ? { allow: 'GET, HEAD' } : {}),
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    },
    body: JSON.stringify(body),
  };
}

/** Returns an `OAuthError` unchanged. Logs any other error and converts it to an opaque 503 or 500. */
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

/** The headers of token responses (RFC 6749 section 5.1) and of all error responses. */
const uncachedJson = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' };

/** The challenge in a 401 response (RFC 6749 section 5.2). Some client libraries show its error code instead of the body. */
const challenge = { 'www-authenticate': 'Basic realm="oauth", error="invalid_client"' };
