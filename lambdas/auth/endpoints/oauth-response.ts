import type { HttpResponse } from '../../platform/http.ts';
import type { OAuthError } from '../oauth-error.ts';

/** A 200 that nobody may cache. */
export function okResponse(body: object): HttpResponse {
  return {
    statusCode: 200,
    headers: jsonUncached,
    body: JSON.stringify(body),
  };
}

/** The response for a failure. */
export function errorResponse(error: OAuthError): HttpResponse {
  return {
    statusCode: error.status,
    headers: {
      ...jsonUncached,
      ...(error.status === 401 ? challenge : {}),
      ...(error.oauthCase === 'method_not_post' ? { allow: 'POST' } : {}),
      ...(error.oauthCase === 'method_not_get' ? { allow: 'GET, HEAD' } : {}),
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    },
    body: JSON.stringify({ error: error.code, error_description: error.description }),
  };
}

/** On every answer that concerns tokens (RFC 6749 section 5.1). */
const jsonUncached = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' };

/** RFC 6749 section 5.2; some client libraries show the challenge instead of the body, hence the code in it too. */
const challenge = { 'www-authenticate': 'Basic realm="oauth", error="invalid_client"' };
