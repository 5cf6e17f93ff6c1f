import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A request from an HTTP API (payload format 2.0): header names in lower case, repeated headers joined by commas. */
export type HttpRequest = APIGatewayProxyEventV2;

/** A response to an HTTP API (payload format 2.0). */
export type HttpResponse = APIGatewayProxyStructuredResultV2 & { readonly [isRefusal]?: true };

/** Marks a response to a request that breaks a rule. Such a response is not a service fault at any status. JSON omits symbols. */
export const isRefusal: unique symbol = Symbol('isRefusal');

/** Returns the body's bytes exactly as sent. HTTP APIs encode forms as base64. */
export function bodyBytes(request: Pick<HttpRequest, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8');
}

/** Returns the caller's IP address from the gateway, not from a header, which callers can set. */
export function callerIp(request: HttpRequest): string {
  return request.requestContext.http.sourceIp;
}
