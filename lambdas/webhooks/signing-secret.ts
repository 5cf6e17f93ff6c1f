import { randomBytes } from 'node:crypto';
import type { SigningSecret } from './webhook.ts';

/** How long a replaced secret signs deliveries too, in milliseconds, so that receivers can change over: 24 h. */
const secretOverlapMs = 24 * 60 * 60 * 1_000;

/** The most replaced secrets that sign beside the current one. */
const maximumReplaced = 4;

/** Makes the text of a new signing secret. */
export type MakeSigningSecret = () => string;

/** A random 256-bit secret in the form of Standard Webhooks: `whsec_` and its bytes in base64. */
export const makeSigningSecret: MakeSigningSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** Whether a secret signs deliveries at that moment (milliseconds since the epoch). */
export const isSigning = ({ replacedAt }: SigningSecret, now: number): boolean =>
  replacedAt === undefined || now < replacedAt + secretOverlapMs;

/**
 * The secrets after `sealed` has taken the current one's place: newest first, those that no longer sign left out.
 * Gives `undefined` when too many would sign.
 *
 * @param isImmediate - whether the old ones end now.
 */
export const replaceSecret = (
  secrets: readonly SigningSecret[],
  sealed: string,
  now: number,
  isImmediate: boolean,
): SigningSecret[] | undefined => {
  const current: SigningSecret = { sealed, createdAt: now };
  if (isImmediate) return [current];
  const replaced = secrets
    .filter(secret => isSigning(secret, now))
    .map(secret => ({ ...secret, replacedAt: secret.replacedAt ?? now }));
  return replaced.length > maximumReplaced ? undefined : [current, ...replaced];
};
