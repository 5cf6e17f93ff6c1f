import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The key of one smoke test: `Bearer <expiry>.<nonce>.<MAC>`, with the expiry in seconds since the epoch and an HMAC-SHA-256
 * over the rest. It is the webhook's `autorizacao`, so that the receiver knows the test's deliveries without keeping anything.
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
 * Whether an `Authorization` header is the key of a smoke test at this moment. The form is checked first, in time that does
 * not depend on the secret. The MACs are compared in constant time.
 *
 * @param now - in milliseconds since the epoch.
 */
export function isRunKey(authorization: string | undefined, secret: string, now: number): boolean {
  const [, claims = '', expiry = '', mac = ''] = parseRunKey(authorization) ?? [];
  const isAuthentic = timingSafeEqual(macOf(secret, claims), toMac(mac));
  return isAuthentic && now < Number(expiry) * 1_000;
}

/** Whether an `Authorization` header has the form of a key. Nobody needs the secret in order to refuse the others. */
export function hasRunKeyForm(authorization: string | undefined): boolean {
  return parseRunKey(authorization) !== null;
}

function parseRunKey(authorization = ''): RegExpExecArray | null {
  return authorization.length > longestKey ? null : form.exec(authorization);
}

/** More characters than any key has: a longer header is not looked at. */
const longestKey = 128;

const form = /^Bearer (([0-9]{1,12})\.[0-9A-Za-z]{1,64})\.([0-9A-Za-z_-]{43})$/;

function macOf(secret: string, claims: string): Buffer {
  return createHmac('sha256', secret).update(claims).digest();
}

/** A MAC of the right length. That of a malformed key is zero, which no key has. */
function toMac(text: string): Buffer {
  const decoded = Buffer.from(text, 'base64url');
  return decoded.length === macBytes ? decoded : Buffer.alloc(macBytes);
}

const macBytes = 32;
