import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { InvocationOutcome } from '../lambda/invocation.ts';

/** A complete request to the gateway. */
export interface GatewayRequest {
  /** The request id that the gateway returns in the response header `apigw-requestid`. */
  readonly requestId: string;
  /** The decoded path, which starts with a slash. */
  readonly path: string;
  /** The query as sent, without the question mark. */
  readonly rawQueryString: string;
  readonly message: Pick<IncomingMessage, 'method' | 'headersDistinct' | 'socket'>;
  readonly body: Buffer;
}

/** Returns the event for a request. It has the fields of payload format 2.0 that the functions read. */
export function eventOf({ requestId, path, rawQueryString, message, body }: GatewayRequest, routeKey: string) {
  const headers = Object.fromEntries(
    Object.entries(message.headersDistinct).map(([name, values]) => [name, values?.join(',') ?? '']),
  );
  const isBase64Encoded = body.length > 0 && !isText(headers['content-type'] ?? '', body);
  const http = { method: message.method, path, sourceIp: message.socket.remoteAddress ?? '127.0.0.1' };
  return {
    ...{ version: '2.0', routeKey, rawPath: path, rawQueryString, headers },
    requestContext: { http, requestId, routeKey, stage: '$default' },
    ...(body.length > 0 && { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
  };
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Creates a response from API Gateway itself. */
export function gatewayMessage(status: number, message: string): GatewayResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify({ message })) };
}

/** Converts a function's result (payload format 2.0) into a response, as API Gateway does. */
export function responseOf(outcome: InvocationOutcome): GatewayResponse {
  try {
    if (outcome.outcome === 'failed') return internalError;
    const { statusCode: status, headers, body, isBase64Encoded } = resultSchema.parse(JSON.parse(outcome.payload));
    return { status, headers, body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') };
  } catch {
    return internalError;
  }
}

const internalError = gatewayMessage(500, 'Internal Server Error');

const resultSchema = z.object({
  statusCode: z.int().min(100).max(599),
  headers: z.record(z.string(), z.coerce.string()).default({}),
  body: z.string().default(''),
  isBase64Encoded: z.boolean().default(false),
});

/** Returns whether API Gateway passes a body as text. It passes other bodies, such as forms, as base64. */
function isText(contentType: string, body: Buffer): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const isTextual = type.startsWith('text/') || /^application\/(json|xml|javascript)$/.test(type);
  return isTextual && isUtf8(body); // decoding would replace invalid bytes
}
