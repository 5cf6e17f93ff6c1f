import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAuthentic, readRefreshToken, writeRefreshToken } from '../../../../lambdas/auth/sessions/refresh-token.ts';

// Tests that refresh tokens cannot be forged and have only one encoding (RFC 6749 section 10.4).

const newKey = () => createSecretKey(randomBytes(32));
const key = newKey();
const content = { sessionId: 'u1-f1', counter: 7, keyId: 'k1' };
const token = writeRefreshToken(content, key);
const accepts = (text: string): boolean => {
  const read = readRefreshToken(text);
  return read !== undefined && isAuthentic(read, key);
};

const id = fc.stringMatching(/^[0-9A-Za-z]{1,22}$/);
const contents = fc.record({
  sessionId: fc.tuple(id, id).map(([user, random]) => `${user}-${random}`),
  counter: fc.integer({ min: 1, max: 10 ** 15 - 1 }),
  keyId: id,
});

describe('Refresh tokens', () => {
  it('have the form sessionId.counter.keyId.MAC, with the MAC of the first three parts.', () => {
    const mac = createHmac('sha256', key).update('u1-f1.7.k1').digest('base64url');
    expect(token).toBe(`u1-f1.7.k1.${mac}`);
  });

  it('contain the content that was written.', () => {
    fc.assert(
      fc.property(contents, written => {
        const read = readRefreshToken(writeRefreshToken(written, key));
        expect(read).toMatchObject({ ...written, userId: written.sessionId.split('-')[0] });
        expect(read && isAuthentic(read, key)).toBe(true);
        expect(read && isAuthentic(read, newKey())).toBe(false);
      }),
    );
  });

  it.each([
    ['empty', ''],
    ['with a line break', `${token}\n`],
    ['surrounded by blanks', ` ${token} `],
    ['with a leading 0 in its counter', token.replace('.7.', '.07.')],
    ['with a signed counter', token.replace('.7.', '.+7.')],
    ['with an exponent', token.replace('.7.', '.7e0.')],
    ['without its MAC', token.slice(0, token.lastIndexOf('.') + 1)],
    ['with a MAC in base64', `${token.slice(0, token.lastIndexOf('.') + 1)}${'+/'.repeat(21)}A`],
  ])('are rejected if they are %s.', (_, altered) => {
    expect(accepts(token)).toBe(true);
    expect(accepts(altered)).toBe(false);
  });

  it('are rejected if they encode the same MAC differently.', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const accepted = [...alphabet].filter(last => accepts(`${token.slice(0, -1)}${last}`));
    expect(accepted).toEqual([token.at(-1)]);
  });

  it('are rejected if any character is changed.', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.string({ minLength: 0, maxLength: 2 }), (position, inserted) => {
        const altered = `${token.slice(0, position)}${inserted}${token.slice(position + 1)}`;
        expect(accepts(altered)).toBe(altered === token);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are rejected if they combine parts of other tokens.', () => {
    fc.assert(
      fc.property(
        contents,
        contents,
        fc.tuple(...Array.from({ length: 4 }, () => fc.boolean())),
        (one, other, picks) => {
          const genuine = [one, other].map(content => writeRefreshToken(content, key));
          const [first = [], second = []] = genuine.map(text => text.split('.'));
          const mixed = picks.map((isFirst, part) => (isFirst ? first : second)[part]).join('.');
          expect(accepts(mixed)).toBe(genuine.includes(mixed));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are rejected if they were created without the key.', () => {
    fc.assert(
      fc.property(contents, fc.uint8Array({ minLength: 32, maxLength: 32 }), (content, mac) => {
        const { sessionId, counter, keyId } = content;
        expect(accepts(`${sessionId}.${counter}.${keyId}.${Buffer.from(mac).toString('base64url')}`)).toBe(false);
        expect(accepts(writeRefreshToken(content, createSecretKey(mac)))).toBe(false);
      }),
    );
  });
});
