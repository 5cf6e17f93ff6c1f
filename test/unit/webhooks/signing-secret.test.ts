import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../lambdas/platform/random.ts';
import { isSigning, makeSigningSecrets, replaceSecret as replace } from '../../../lambdas/webhooks/signing-secret.ts';
import type { SigningSecret } from '../../../lambdas/webhooks/webhook.ts';

/* Tests new and replaced signing secrets (`docs/en/webhooks.md`, "Rotate the secret"). */

const hour = 3_600_000;

const replaceSecret = (...parameters: Parameters<typeof replace>) => {
  const replaced = replace(...parameters);
  if (replaced.outcome === 'too_many') throw new Error(`not before ${replaced.until}`);
  return replaced.secrets;
};

it('a new secret consists of 256 random bits in the format of Standard Webhooks', () => {
  const makeSecret = makeSigningSecrets(systemRandom);
  const secret = makeSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(() => new Webhook(secret)).not.toThrow();
  expect(makeSecret()).not.toBe(secret);
});

describe('replaceSecret', () => {
  const first: SigningSecret = { encrypted: 'a', createdAt: 0 };

  it('allows a replaced secret to sign for 24 h after its replacement', () => {
    const [current, replaced] = replaceSecret([first], 'b', 1_000, false);
    expect(current).toEqual({ encrypted: 'b', createdAt: 1_000 });
    expect(replaced).toEqual({ ...first, replacedAt: 1_000 });
    expect(replaced && isSigning(replaced, 1_000 + 24 * hour - 1)).toBe(true);
    expect(replaced && isSigning(replaced, 1_000 + 24 * hour)).toBe(false);
    expect(current && isSigning(current, 1e15)).toBe(true);
  });

  it('allows four replaced secrets in addition to the current one, each for 24 h', () => {
    let secrets: readonly SigningSecret[] = [first];
    for (let time = 1; time <= 4; time++) secrets = replaceSecret(secrets, `s${time}`, time * hour, false);
    expect(secrets.map(({ encrypted }) => encrypted)).toEqual(['s4', 's3', 's2', 's1', 'a']);
    expect(secrets.map(({ replacedAt }) => replacedAt)).toEqual([undefined, 4 * hour, 3 * hour, 2 * hour, hour]);
    const tooMany = { outcome: 'too_many', until: 25 * hour };
    expect(replace(secrets, 'x', 5 * hour, false)).toEqual(tooMany);
    expect(replace(secrets, 'x', 25 * hour - 1, false)).toEqual(tooMany);
    const next = replaceSecret(secrets, 'x', 25 * hour, false);
    expect(next.map(({ encrypted }) => encrypted)).toEqual(['x', 's4', 's3', 's2', 's1']);
    expect(replaceSecret(secrets, 'x', 5 * hour, true)).toEqual([{ encrypted: 'x', createdAt: 5 * hour }]);
  });
});
