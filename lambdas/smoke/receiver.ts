import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Clock } from '../platform/clock.ts';
import { text } from '../platform/environment.ts';
import { bodyBytes, type HttpRequest, type HttpResponse } from '../platform/http.ts';
import { describeError, type Log } from '../platform/telemetry.ts';

export const receiverEnvironment = z.object({
  /** The parameter with the secret that tests make their keys with. */
  RECEIVER_KEY_PARAMETER: text,
});

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

/**
 * Makes the reader of the secret, which is asked for often: it keeps the secret for a minute. Where there is none it says so in
 * the log, and looks again after ten seconds, so that requests of strangers cause neither calls nor lines without end.
 */
export function makeReadSecret({
  readParameter,
  name,
  log,
  now,
}: {
  readonly readParameter: (name: string) => Promise<string | undefined>;
  readonly name: string;
  readonly log: Pick<Log, 'error'>;
  readonly now: Clock;
}): () => Promise<string | undefined> {
  let kept: { readonly secret: Promise<string | undefined>; readonly until: number } | undefined;

  return async function readSecret() {
    if (kept && now() < kept.until) return kept.secret;
    const secret = read();
    kept = { secret, until: now() + keptMs };
    if ((await secret) === undefined) kept = { secret, until: now() + missingMs };
    return secret;
  };

  async function read(): Promise<string | undefined> {
    try {
      const secret = await readParameter(name);
      if (secret === undefined) log.error('smoke.secret_missing', { parameter: name });
      return secret;
    } catch (error) {
      log.error('smoke.secret_not_read', { parameter: name, ...describeError(error) });
      return undefined;
    }
  }
}

/**
 * Makes the key of one smoke test: `Bearer <expiry>.<nonce>.<MAC>`, with the expiry in seconds since the epoch and an
 * HMAC-SHA-256 over the rest. It is the webhook's `autorizacao`, so that the receiver knows the test's deliveries without
 * keeping anything.
 *
 * @param secret - what the test and its receiver share.
 * @param expiresAt - in milliseconds since the epoch.
 * @param nonce - letters and digits.
 */
export function makeRunKey(secret: string, expiresAt: number, nonce: string): string {
  const claims = `${Math.ceil(expiresAt / 1_000)}.${nonce}`;
  return `Bearer ${claims}.${macOf(secret, claims).toString('base64url')}`;
}

/**
 * Tells a header `Authorization` that is the key of a smoke test at this moment from any other. The form is checked first, in
 * time that does not depend on the secret. The MACs are compared in constant time.
 *
 * @param now - in milliseconds since the epoch.
 */
export function isRunKey(authorization: string | undefined, secret: string, now: number): boolean {
  const [, claims = '', expiry = '', mac = ''] = parseRunKey(authorization) ?? [];
  const isAuthentic = timingSafeEqual(macOf(secret, claims), toMac(mac));
  return isAuthentic && now < Number(expiry) * 1_000;
}

/** Tells a header `Authorization` that has the form of a key from any other. It takes no secret to refuse the others. */
export function hasRunKeyForm(authorization: string | undefined): boolean {
  return parseRunKey(authorization) !== null;
}

/**
 * A receiver's account of a delivery, in the body of its answer. The service keeps the beginning of every answer, so the test
 * reads there what arrived. It holds digests instead of contents, because all who may read the delivery see the answer.
 */
type Receipt = z.infer<typeof receiptSchema>;

/**
 * Makes the receipt of a delivery.
 *
 * @param headers - names in lower case.
 */
export function makeReceipt(headers: Readonly<Record<string, string | undefined>>, body: Uint8Array): Receipt {
  return {
    id: headers['webhook-id'] ?? '',
    timestamp: headers['webhook-timestamp'] ?? '',
    signature: headers['webhook-signature'] ?? '',
    authorization: digestOf(headers.authorization ?? ''),
    body: digestOf(body),
  };
}

/** Reads a receipt. `undefined` for an answer that is none. */
export function parseReceipt(answer: string | null): Receipt | undefined {
  try {
    return receiptSchema.parse(JSON.parse(answer ?? ''));
  } catch {
    return undefined;
  }
}

/** Returns the SHA-256 of something that was sent, as receipts have it. */
export function digestOf(sent: string | Uint8Array): string {
  return createHash('sha256').update(sent).digest('base64url');
}

function empty(statusCode: number): HttpResponse {
  return { statusCode, headers: { 'cache-control': 'no-store' }, body: '' };
}

const keptMs = 60_000;
const missingMs = 10_000;

function parseRunKey(authorization = ''): RegExpExecArray | null {
  return authorization.length > longestKey ? null : form.exec(authorization);
}

/** More characters than any key has: a longer header is not looked at. */
const longestKey = 128;

const form = /^Bearer (([0-9]{1,12})\.[0-9A-Za-z]{1,64})\.([0-9A-Za-z_-]{43})$/;

function macOf(secret: string, claims: string): Buffer {
  return createHmac('sha256', secret).update(claims).digest();
}

/** Returns a MAC of the right length. That of a malformed key is zero, which no key has. */
function toMac(text: string): Buffer {
  const decoded = Buffer.from(text, 'base64url');
  return decoded.length === macBytes ? decoded : Buffer.alloc(macBytes);
}

const macBytes = 32;

const receiptSchema = z.object({
  /** The headers of Standard Webhooks as they arrived. */
  id: z.string(),
  timestamp: z.string(),
  signature: z.string(),
  /** SHA-256 of the `Authorization` header, base64url. */
  authorization: z.string(),
  /** SHA-256 of the body, base64url. */
  body: z.string(),
});
