import type { HttpRequest } from '../../lambdas/platform/http.ts';

/** The parts of a request that a test names; the rest is as API Gateway would fill it in. */
export interface RequestDescription {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  /** Names in lower case. */
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly address?: string;
}

/** Returns a request as an HTTP API hands it to a function (payload format 2.0), with the body in base64. */
export function httpRequest(description: RequestDescription): HttpRequest {
  const { method = 'GET', path = '/', query = '', headers = {}, body, address = '203.0.113.7' } = description;
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      accountId: '000000000000',
      apiId: 'test',
      domainName: 'auth.example.com',
      domainPrefix: 'auth',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: address, userAgent: 'test' },
      requestId: 'request',
      routeKey: '$default',
      stage: '$default',
      time: '20/Nov/2026:12:00:00 +0000',
      timeEpoch: 0,
    },
    isBase64Encoded: body !== undefined,
    ...(body === undefined ? {} : { body: Buffer.from(body).toString('base64') }),
  };
}
