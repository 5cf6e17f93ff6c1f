import type { Clock } from '../platform/clock.ts';
import { bodyBytes, type HttpRequest, type HttpResponse } from '../platform/http.ts';
import { makeReceipt } from './receipt.ts';
import { hasRunKeyForm, isRunKey } from './run-key.ts';

/**
 * Makes the receiver of smoke tests. It answers a delivery that has the key of a test with its receipt, and everything else
 * with an empty 401, before it has looked at anything but the `Authorization` header. It logs nothing of a request.
 */
export function makeReceiver({
  readSecret,
  now,
}: {
  /** The secret that tests make their keys with; `undefined` where it cannot be read. */
  readonly readSecret: () => Promise<string | undefined>;
  readonly now: Clock;
}) {
  return async function receive(request: HttpRequest): Promise<HttpResponse> {
    const { authorization } = request.headers;
    if (!hasRunKeyForm(authorization)) return empty(401);
    const secret = await readSecret();
    if (secret === undefined) return empty(503);
    if (!isRunKey(authorization, secret, now())) return empty(401);
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: JSON.stringify(makeReceipt(request.headers, bodyBytes(request))),
    };
  };
}

function empty(statusCode: number): HttpResponse {
  return { statusCode, headers: { 'cache-control': 'no-store' }, body: '' };
}
