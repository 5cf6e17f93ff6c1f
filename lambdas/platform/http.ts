import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A request from an HTTP API (payload format 2.0): header names in lower case, repeated headers joined by commas. */
export type HttpRequest = APIGatewayProxyEventV2;

/** A response to an HTTP API (payload format 2.0). */
export type HttpResponse = APIGatewayProxyStructuredResultV2 & { readonly [isRefusal]?: true };

/** Marks what was refused by a rule: no fault of ours, whatever its status. JSON leaves symbols out. */
export const isRefusal: unique symbol = Symbol('isRefusal');

/** Returns the body's bytes. HTTP APIs encode forms as base64, so the bytes are those that the caller sent. */
export function bodyBytes(request: Pick<HttpRequest, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8');
}

/** Returns the caller's IP address as the gateway saw it: never from a header, which anyone can set. */
export function callerIp(request: HttpRequest): string {
  return request.requestContext.http.sourceIp;
}
