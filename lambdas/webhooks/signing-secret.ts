import { randomBytes } from 'node:crypto';
import type { SigningSecret } from './webhook.ts';

/** Makes the text of a new signing secret. */
export type MakeSigningSecret = () => string;

/** A random 256-bit secret in the form of Standard Webhooks: `whsec_` and its bytes in base64. */
export function makeSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Until when a secret signs deliveries, in milliseconds since the epoch: the current one has no end. */
export function signsUntil({ replacedAt }: SigningSecret): number {
  return replacedAt === undefined ? Number.POSITIVE_INFINITY : replacedAt + secretOverlapMs;
}

/** Whether a secret signs deliveries at that moment (milliseconds since the epoch). */
export function isSigning(secret: SigningSecret, now: number): boolean {
  return now < signsUntil(secret);
}

/** The secrets after a replacement, or when (milliseconds since the epoch) there may be one. */
export type Replaced =
  | { readonly outcome: 'replaced'; readonly secrets: readonly SigningSecret[] }
  | { readonly outcome: 'too_many'; readonly until: number };

/**
 * The secrets after `sealed` has taken the current one's place: newest first, those that no longer sign left out. Each
 * replaced one signs for a while from its own replacement; no more than four do.
 *
 * @param isImmediate - whether the old ones end now.
 */
export function replaceSecret(
  secrets: readonly SigningSecret[],
  sealed: string,
  now: number,
  isImmediate: boolean,
): Replaced {
  const current: SigningSecret = { sealed, createdAt: now };
  if (isImmediate) return { outcome: 'replaced', secrets: [current] };
  const signing = secrets.filter(secret => isSigning(secret, now));
  if (signing.length > maximumReplaced) return { outcome: 'too_many', until: Math.min(...signing.map(signsUntil)) };
  const replaced = signing.map(secret => ({ ...secret, replacedAt: secret.replacedAt ?? now }));
  return { outcome: 'replaced', secrets: [current, ...replaced] };
}

/** How long a replaced secret signs deliveries too, in milliseconds, so that receivers can change over: 24 h. */
const secretOverlapMs = 24 * 60 * 60 * 1_000;

/** The most replaced secrets that sign beside the current one. */
const maximumReplaced = 4;
