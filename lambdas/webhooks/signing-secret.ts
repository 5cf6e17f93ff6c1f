import type { Random } from '../platform/random.ts';
import type { SigningSecret } from './webhook.ts';

export type MakeSigningSecret = () => string;

/** Makes the maker of random 256-bit secrets in the format of Standard Webhooks: `whsec_` and its bytes in base64. */
export function makeSigningSecrets({ bytes }: Pick<Random, 'bytes'>): MakeSigningSecret {
  return function makeSecret() {
    return `whsec_${bytes(32).toString('base64')}`;
  };
}

/** Returns the moment when a secret stops signing deliveries, in milliseconds since the epoch; infinity for the current one. */
export function signsUntil({ replacedAt }: SigningSecret): number {
  return replacedAt === undefined ? Number.POSITIVE_INFINITY : replacedAt + secretOverlapMs;
}

/** Returns whether a secret signs deliveries at that moment (milliseconds since the epoch). */
export function isSigning(secret: SigningSecret, now: number): boolean {
  return now < signsUntil(secret);
}

/** The secrets after a rotation, or when the next rotation is possible (milliseconds since the epoch). */
export type SecretRotation =
  | { readonly outcome: 'replaced'; readonly secrets: readonly SigningSecret[] }
  | { readonly outcome: 'too_many'; readonly until: number };

/**
 * Makes `encrypted` the current secret. The list is newest first and holds only secrets that sign: each replaced one signs for
 * 24 h after its own replacement, and at most four do.
 *
 * @param isImmediate - whether the replaced ones stop signing now.
 */
export function replaceSecret(
  secrets: readonly SigningSecret[],
  encrypted: string,
  now: number,
  isImmediate: boolean,
): SecretRotation {
  const current: SigningSecret = { encrypted, createdAt: now };
  if (isImmediate) return { outcome: 'replaced', secrets: [current] };
  const signing = secrets.filter(secret => isSigning(secret, now));
  if (signing.length > maximumReplaced) return { outcome: 'too_many', until: Math.min(...signing.map(signsUntil)) };
  const replaced = signing.map(secret => ({ ...secret, replacedAt: secret.replacedAt ?? now }));
  return { outcome: 'replaced', secrets: [current, ...replaced] };
}

/** The time that a replaced secret still signs, in milliseconds, so that receivers can change over: 24 h. */
const secretOverlapMs = 24 * 60 * 60 * 1_000;

/** The most replaced secrets that sign along with the current one. */
const maximumReplaced = 4;
