import { pbkdf2Sync } from 'node:crypto';
import { hash as bcrypt } from 'bcryptjs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseImportedHash } from '../../../../lambdas/auth/principals/imported-hash.ts';
import { systemKeyDerivation } from '../../../../lambdas/platform/key-derivation.ts';
import { passwordHashing } from '../../../support/password-hashing.ts';
import { amount } from '../../../support/sample.ts';

// Tests which hashes from other systems are supported (PHC strings, bcrypt, OWASP Password Storage Cheat Sheet).

const password = 'pa ss+é';
const [salt, tag] = ['MDEyMzQ1Njc4OWFiY2RlZg', 'C8AL1H1mP0dcugAmf50VJE/DcscRE3FJ6f8SqRBdJ0U'];

describe('An imported hash', () => {
  it.each([
    // https://github.com/P-H-C/phc-winner-argon2#command-line-utility
    ['argon2id', 'password', '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'],
    [
      "argon2id of PHP's password_hash",
      password,
      '$argon2id$v=19$m=1024,t=2,p=1$VHZRbHlFMmpTUjN2V1dubQ$PR3O1K6vP+YdFL2mLYh+rXKzia29kNlwxmI+IcS3ypE',
    ],
    [
      "argon2i of PHP's password_hash",
      password,
      '$argon2i$v=19$m=1024,t=2,p=1$cWZpcXJzMWNxQ1pNN1ouVQ$onq1LiWx6aX5qRvJ7HdB9tl57p56hYYS5ewHMVbOkTg',
    ],
    [
      "PBKDF2 of Python's hashlib",
      password,
      `$pbkdf2-sha256$i=1000$${salt}$bYP8XD7a26Xr0r5f6psNExZg/NgzStKc9ZU7omtefDY`,
    ],
    ['PBKDF2 with l=32', password, `$pbkdf2-sha256$i=1000,l=32$${salt}$bYP8XD7a26Xr0r5f6psNExZg/NgzStKc9ZU7omtefDY`],
    [
      'PBKDF2 with SHA-512',
      password,
      `$pbkdf2-sha512$i=1000$${salt}$eC7Qa5h4K4DwTezTukYA/HxmEGskMO9sblBGqehZqXeEZ+6wjGExLyxm+/HE0IPwvqZkyWvu1RxcZ6A+f3aluQ`,
    ],
    ['bcrypt, $2a$', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
    ['bcrypt, $2b$', 'U*U', '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
    ["bcrypt of PHP's password_hash, $2y$", password, '$2y$04$0D/2C5u2toHWK2myshTQ7eU0hctD8TVRGPbLcnpBJEhz0yZbzSVh2'],
  ])('of %s matches only its password and needs a rehash.', async (_kind, correct, text) => {
    const stored = `imported${text}`;
    expect(await passwordHashing.verify(correct, stored)).toBe(true);
    expect(await passwordHashing.verify(`${correct} `, stored)).toBe(false);
    expect(await passwordHashing.verify('', stored)).toBe(false);
    expect(passwordHashing.needsRehash(stored, correct)).toBe(true);
  });

  it('of bcrypt depends on the first 72 bytes only.', async () => {
    const stored = 'imported$2y$04$4qq7WHpp51je5preRbVN1.MEYZbYRxGHEPNs6gj3fqhvJjrYytfQm';
    expect(await passwordHashing.verify('a'.repeat(72), stored)).toBe(true);
    expect(await passwordHashing.verify(`${'a'.repeat(72)}anything`, stored)).toBe(true);
    expect(await passwordHashing.verify('a'.repeat(71), stored)).toBe(false);
    expect([72, 73].map(length => passwordHashing.needsRehash(stored, 'a'.repeat(length)))).toEqual([true, false]);
  });

  it('is compared with the password as typed and then in NFC.', async () => {
    const [typed, composed] = ['Cafe\u0301 con leche', 'Caf\u00e9 con leche'];
    const ofTyped = `imported$pbkdf2-sha256$i=1000$${salt}$zIxG0EEbI85ApBc2kSU25l2jVWPpB/VGCRTmmYCeEbk`;
    const ofComposed = `imported$pbkdf2-sha256$i=1000$${salt}$${tag}`;
    expect(await passwordHashing.verify(typed, ofTyped)).toBe(true);
    expect(await passwordHashing.verify(composed, ofTyped)).toBe(false);
    expect(await passwordHashing.verify(typed, ofComposed)).toBe(true);
    expect(await passwordHashing.verify(composed, ofComposed)).toBe(true);
  });

  it('with the parameters of new hashes also needs a rehash.', async () => {
    expect(passwordHashing.needsRehash(`imported${await passwordHashing.hash('x')}`, 'x')).toBe(true);
  });

  const argon2 = (parameters: string) => `$argon2id$v=19$${parameters}$${salt}$${tag}`;
  it.each([
    ['argon2 with the maximum memory', argon2('m=65536,t=4,p=4'), true],
    ['argon2 with more memory', argon2('m=65537,t=1,p=1'), false],
    ['argon2 with the maximum work', argon2('m=19456,t=13,p=1'), true],
    ['argon2 with more work', argon2('m=19456,t=14,p=1'), false],
    ['argon2 with five lanes', argon2('m=19456,t=1,p=5'), false],
    ['argon2 with too little memory for its lanes (RFC 9106 section 3.1)', argon2('m=31,t=1,p=4'), false],
    ['argon2 without a pass', argon2('m=64,t=0,p=1'), false],
    ['argon2 of version 16', `$argon2id$m=64,t=1,p=1$${salt}$${tag}`, false],
    ['argon2d', `$argon2d$v=19$m=64,t=1,p=1$${salt}$${tag}`, false],
    ['argon2 with leading zeros in a number', argon2('m=00064,t=1,p=1'), false],
    ['PBKDF2 with 2,000,000 iterations', `$pbkdf2-sha256$i=2000000$${salt}$${tag}`, true],
    ['PBKDF2 with 2,000,001 iterations', `$pbkdf2-sha256$i=2000001$${salt}$${tag}`, false],
    ['PBKDF2 with 0 iterations', `$pbkdf2-sha256$i=0$${salt}$${tag}`, false],
    ['PBKDF2 with a wrong length', `$pbkdf2-sha256$i=1,l=16$${salt}$${tag}`, false],
    ['PBKDF2 with SHA-1', `$pbkdf2$i=1000$${salt}$${tag}`, false],
    ['bcrypt with cost 13', `$2b$13$${'e'.repeat(53)}`, true],
    ['bcrypt with cost 14', `$2b$14$${'e'.repeat(53)}`, false],
    ['bcrypt with cost 3', `$2b$03$${'e'.repeat(53)}`, false],
    ['bcrypt with the sign extension bug of 2011', `$2x$10$${'e'.repeat(53)}`, false],
    ['bcrypt that is truncated', `$2b$10$${'e'.repeat(52)}`, false],
    ['bcrypt with unused bits in its salt (no password matches)', `$2b$10$${'e'.repeat(21)}f${'e'.repeat(31)}`, false],
    ['bcrypt with unused bits in its hash', `$2b$10$${'e'.repeat(52)}f`, false],
    ['a salt that is too long', `$pbkdf2-sha256$i=1$${'A'.repeat(88)}$${tag}`, false],
    ['a hash that is too short', `$pbkdf2-sha256$i=1$${salt}$AAAA`, false],
    ['base64 with padding', `$pbkdf2-sha256$i=1$${salt}==$${tag}`, false],
    ['scrypt', `$scrypt$ln=14,r=8,p=5$${salt}$${tag}`, false],
    ['PBKDF2 of passlib', `$pbkdf2-sha256$29000$${salt}$${tag}`, false],
    ['PBKDF2 of Django', `pbkdf2_sha256$600000$seasalt2017AB$${tag}=`, false],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99', false],
    ['a password', 'correct horse battery staple', false],
    ['an empty text', '', false],
  ])('in the form of %s, %s, is supported: %s.', (_case, text, isSupported) => {
    expect(parseImportedHash(text) !== undefined).toBe(isSupported);
  });

  it('with the maximum work can be verified.', async () => {
    expect(await parseImportedHash(argon2('m=65536,t=4,p=4'))?.matches('x', systemKeyDerivation)).toBe(false);
  });

  it.each([
    ['argon2id', argon2('m=19456,t=2,p=1'), argon2('m=19456,t=1,p=1')],
    ['argon2id', argon2('m=7168,t=5,p=1'), argon2('m=7168,t=4,p=1')],
    ['PBKDF2-SHA256', `$pbkdf2-sha256$i=600000$${salt}$${tag}`, `$pbkdf2-sha256$i=599999$${salt}$${tag}`],
    ['PBKDF2-SHA512', `$pbkdf2-sha512$i=210000$${salt}$${tag}`, `$pbkdf2-sha512$i=209999$${salt}$${tag}`],
    ['bcrypt', `$2b$10$${'e'.repeat(53)}`, `$2b$09$${'e'.repeat(53)}`],
  ])('of %s is weak if its cost is below the OWASP minimum. Every argon2i hash is weak.', (kind, equal, weaker) => {
    expect(parseImportedHash(equal)).toMatchObject({ kind, isWeak: false });
    expect(parseImportedHash(weaker)).toMatchObject({ kind, isWeak: true });
    const argon2i = argon2('m=65536,t=4,p=1').replace('argon2id', 'argon2i');
    expect(parseImportedHash(argon2i)).toMatchObject({ kind: 'argon2i', isWeak: true });
  });

  it('with any text is parsed without an exception.', () => {
    const kind = fc.constantFrom('$argon2id', '$2b', '$pbkdf2-sha256');
    const rest = fc.string({ unit: 'binary', maxLength: 60 });
    const hash = fc.tuple(kind, rest).map(parts => parts.join('$'));
    const text = fc.oneof(rest, hash);
    fc.assert(fc.property(text, value => ['object', 'undefined'].includes(typeof parseImportedHash(value))));
  });

  it('matches only the password that was hashed.', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 24 }).filter(value => !value.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, text, async (correct, other) => {
        const derived = pbkdf2Sync(correct, 'sixteen bytes ok', 1, 32, 'sha256').toString('base64').replaceAll('=', '');
        const stored = [
          `imported$pbkdf2-sha256$i=1$${Buffer.from('sixteen bytes ok').toString('base64').replaceAll('=', '')}$${derived}`,
          `imported${await bcrypt(correct, 4)}`,
        ];
        const isSame = [other, other.normalize('NFC')].some(tried => Buffer.from(tried).equals(Buffer.from(correct)));
        for (const hash of stored) {
          expect(await passwordHashing.verify(correct, hash)).toBe(true);
          expect(await passwordHashing.verify(other, hash)).toBe(isSame);
        }
      }),
      { numRuns: amount({ sample: 20, full: 50 }) },
    );
  });
});
