import { createHmac, createSecretKey } from 'node:crypto';

/** The content that Standard Webhooks signs. */
export interface SignedContent {
  readonly id: string;
  /** The time of the attempt in seconds since the epoch, as sent in `webhook-timestamp`. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * Returns the `webhook-signature` header of Standard Webhooks. It contains one `v1` signature (HMAC-SHA-256 over `id.timestamp.body`) per
 * secret, separated by spaces, so receivers can switch to a new secret at any time. A secret is `whsec_` followed by base64.
 */
export function signatureHeader({ id, timestamp, body }: SignedContent, secrets: readonly string[]): string {
  return secrets
    .map(secret => createSecretKey(secret.replace(/^whsec_/, ''), 'base64')) // an HMAC with a raw key takes six times as long
    .map(key => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
