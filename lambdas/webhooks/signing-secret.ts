import type { Random } from '../platform/random.ts';
import type { SigningSecret } from './webhook.ts';

export type MakeSigningSecret = () => string;

/** Creates a generator of random 256-bit secrets in the Standard Webhooks format, which is `whsec_` and the bytes in base64. */
export function makeSigningSecrets({ bytes }: Pick<Random, 'bytes'>): MakeSigningSecret {
  return function makeSecret() {
    return `whsec_${bytes(32).toString('base64')}`;
  };
}

/** Returns the time until which a secret signs deliveries, in milliseconds since the epoch, or `Infinity` for the current secret. */
export function signsUntil({ replacedAt }: SigningSecret): number {
  return replacedAt === undefined ? Number.POSITIVE_INFINITY : replacedAt + secretOverlapMs;
}

/** Returns whether a secret signs deliveries at `now` (milliseconds since the epoch). */
export function isSigning(secret: SigningSecret, now: number): boolean {
  return now < signsUntil(secret);
}

/** The secrets after a rotation, or the time at which the next rotation is possible (milliseconds since the epoch). */
export type SecretRotation =
  | { readonly outcome: 'replaced'; readonly secrets: readonly SigningSecret[] }
  | { readonly outcome: 'too_many'; readonly until: number };

/**
 * Returns the signing secrets, newest first, with `encrypted` as the current one. At most four replaced secrets still sign, each for 24 h
 * after its replacement.
 *
 * @param isImmediate - true if the replaced secrets stop signing immediately.
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
  if (signing.length > maxReplaced) return { outcome: 'too_many', until: Math.min(...signing.map(signsUntil)) };
  const replaced = signing.map(secret => ({ ...secret, replacedAt: secret.replacedAt ?? now }));
  return { outcome: 'replaced', secrets: [current, ...replaced] };
}

/** The time for which a replaced secret still signs, in milliseconds. During this time, receivers can switch to the new secret. */
const secretOverlapMs = 24 * 60 * 60 * 1_000;

/** The maximum number of replaced secrets that sign in addition to the current one. */
const maxReplaced = 4;
