import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRedaction } from '../../../lambdas/delivery/redaction.ts';

describe('what a receiver echoes', () => {
  it.each([
    ['the whole value', 'Bearer s3cr3t-t0ken', 'you sent Bearer s3cr3t-t0ken!', 'you sent ***!'],
    ['each occurrence', 'Bearer s3cr3t-t0ken', 's3cr3t-t0ken, s3cr3t-t0ken', '***, ***'],
    ['its credential part', 'Basic dXNlcjpwYXNz', '{"auth":"dXNlcjpwYXNz"}', '{"auth":"***"}'],
    ['a value without scheme', 's3cr3t-t0ken', '>s3cr3t-t0ken<', '>***<'],
    ['a credential of several words', 'Digest a="b c", d=e', 'got a="b c", d=e.', 'got ***.'],
    ['escaped in JSON', 'Digest a="b"', '{"h":"Digest a=\\"b\\""}', '{"h":"***"}'],
    ['after two spaces', 'ApiKey  k3y', 'got k3y', 'got ***'],
    ['with slashes escaped, as PHP does', 'Basic ab/cd/ef==', '{"h":"Basic ab\\/cd\\/ef=="}', '{"h":"***"}'],
    ['with signs escaped, as Go does', 'Bearer a<b&c', '{"h":"a\\u003cb\\u0026c"}', '{"h":"***"}'],
    ['nothing at the end that only begins like it', 'Bearer longsecretvalue', 'use Bearer', 'use Bearer'],
    ['nothing of ours', 'Bearer s3cr3t-t0ken', 'fine', 'fine'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, false)).toBe(expected);
  });

  it('is masked where the end of what was read cuts it off', () => {
    expect(makeRedaction('Bearer s3cr3t-t0ken')('you sent s3cr3t-t0', true)).toBe('you sent ***');
  });

  it('is left alone where nothing was sent', () => {
    expect(makeRedaction(undefined)('Bearer x', true)).toBe('Bearer x');
  });

  it('never shows the credential, wherever it stands', () => {
    const visible = fc.stringMatching(/^[!-)+-~]{8,40}$/);
    fc.assert(
      fc.property(visible, fc.array(fc.string(), { minLength: 2, maxLength: 5 }), (credential, parts) => {
        const text = makeRedaction(`Bearer ${credential}`)(
          parts.join(`Bearer ${credential}`) + parts.join(credential),
          false,
        );
        return !text.includes(credential);
      }),
    );
  });
});
