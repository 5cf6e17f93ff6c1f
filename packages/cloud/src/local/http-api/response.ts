import * as z from 'zod';
import type { InvocationOutcome } from '../lambda/invocation.ts';

export interface GatewayResponse {
  readonly status: number;
  /** In the order sent; `set-cookie` may occur several times. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** Returns an answer of API Gateway itself, in its own form. */
export function gatewayMessage(status: number, message: string): GatewayResponse {
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ message })),
  };
}

/** Makes the response that API Gateway makes of what a function returned (payload format 2.0). */
export function makeResponse(outcome: InvocationOutcome): GatewayResponse {
  if (outcome.outcome === 'failed') return internalError;
  let result: unknown;
  try {
    result = JSON.parse(outcome.payload);
  } catch {
    return internalError;
  }
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) return inferred(result);
  const { success, data } = structured.safeParse(result);
  if (!success) return internalError;
  const body = Buffer.from(data.body ?? '', data.isBase64Encoded ? 'base64' : 'utf8');
  const headers = Object.entries(data.headers ?? {}).filter(([name]) => !/^(content-length|connection)$/i.test(name));
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    status: data.statusCode,
    headers: [
      ...(hasType || body.length === 0 ? [] : [['content-type', 'text/plain;charset=UTF-8'] as const]),
      ...headers,
      ...(data.cookies ?? []).map(cookie => ['set-cookie', cookie] as const),
    ],
    body,
  };
}

const internalError = gatewayMessage(500, 'Internal Server Error');

/** A result without a status code is the body of a 200. */
function inferred(result: unknown): GatewayResponse {
  return {
    status: 200,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(typeof result === 'string' ? result : JSON.stringify(result)),
  };
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const structured = z.object({
  statusCode: z
    .union([
      z.int(),
      z
        .string()
        .regex(/^\d{3}$/)
        .transform(Number),
    ])
    .pipe(z.int().min(100).max(599)),
  headers: z.record(z.string(), scalar).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});
