import type { HttpRequest } from '../../lambdas/platform/http.ts';

/** A request to a function behind an HTTP API. */
interface GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly requestId: string;
  readonly body?: string | undefined;
}

/** Returns a request in the format that an HTTP API passes to its function. */
export function httpRequestOf({ method, path, query = '', headers, ip, requestId, body }: GatewayRequest): HttpRequest {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      accountId: '111122223333',
      apiId: 'world',
      domainName: 'base.example.com',
      domainPrefix: 'base',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: ip, userAgent: 'world' },
      requestId,
      routeKey: '$default',
      stage: '$default',
      time: '',
      timeEpoch: 0,
    },
    isBase64Encoded: false,
    ...(body !== undefined && { body }),
  };
}
