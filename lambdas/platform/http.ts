import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A request as an HTTP API hands it over (payload format 2.0): header names in lower case, duplicates joined by commas. */
export type HttpRequest = APIGatewayProxyEventV2;

/** A response as an HTTP API takes it. */
export type HttpResponse = APIGatewayProxyStructuredResultV2;

/** The body's bytes. HTTP APIs hand forms over as base64, so bytes survive as the caller sent them. */
export function bodyBytes(request: Pick<HttpRequest, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8');
}

/** The caller's address as the gateway saw it: never a header, which anyone can set. */
export function callerIp(request: HttpRequest): string {
  return request.requestContext.http.sourceIp;
}
