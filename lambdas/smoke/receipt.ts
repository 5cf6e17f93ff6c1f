import { createHash } from 'node:crypto';
import * as z from 'zod/mini';

/**
 * What a receiver says of a delivery in the body of its answer. The service keeps the beginning of every answer, so the test
 * reads there what arrived. It holds digests instead of contents, because all who may read the delivery see the answer.
 */
export type Receipt = z.infer<typeof receiptSchema>;

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

/** The SHA-256 of something that was sent, as receipts have it. */
export function digestOf(sent: string | Uint8Array): string {
  return createHash('sha256').update(sent).digest('base64url');
}

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
