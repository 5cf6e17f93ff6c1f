import { httpRequestOf } from '../../lab/world/http-request.ts';
import type { HttpRequest } from '../../lambdas/platform/http.ts';

/** The parts of a request that a test sets. On AWS, API Gateway adds the others. */
export interface RequestDescription {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  /** Headers with lower-case names. */
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/** Returns a request as an HTTP API passes it to a function (payload format 2.0), with the body in base64. */
export function httpRequest(description: RequestDescription): HttpRequest {
  const { method = 'GET', path = '/', query = '', headers = {}, body } = description;
  const parts = { method, path, query, headers, ip: '203.0.113.7', requestId: 'request' };
  if (body === undefined) return httpRequestOf(parts);
  return { ...httpRequestOf({ ...parts, body: Buffer.from(body).toString('base64') }), isBase64Encoded: true };
}
