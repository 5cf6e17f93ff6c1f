import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A request from an HTTP API (payload format 2.0). Header names are in lower case, and repeated headers are joined with commas. */
export type HttpRequest = APIGatewayProxyEventV2;

/** A response to an HTTP API (payload format 2.0). */
export type HttpResponse = APIGatewayProxyStructuredResultV2 & { readonly [isRejection]?: true };

/** Marks the rejection of an invalid request. Regardless of its status, it is not a service fault. JSON omits symbols. */
export const isRejection: unique symbol = Symbol('isRejection');

/** Returns the unchanged bytes of the body. HTTP APIs encode forms as base64. */
export function bodyBytes(request: Pick<HttpRequest, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8');
}

/** Returns the caller's IP address according to the gateway, because callers can set any header. */
export function callerIp(request: HttpRequest): string {
  return request.requestContext.http.sourceIp;
}
