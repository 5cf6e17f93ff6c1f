import { argon2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { assertHashing } from '../../../../lambdas/auth/principals/password-hash.ts';
import { passwordHashing } from '../../../support/password-hashing.ts';

// Tests password hashing with Argon2id, 19 MiB and 2 passes (RFC 9106, OWASP Password Storage Cheat Sheet).

/** The hash of `password` by the reference implementation, with the salt `somesalt`, 64 MiB, 2 passes and 1 lane. */
const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

const { hash: hashPassword, verify: verifyPassword, needsRehash } = passwordHashing;

it.each([
  ['computes another hash', async () => false],
  ['cannot compute Argon2id', async () => Promise.reject(new Error('unsupported'))],
])('The runtime check fails if the runtime %s, and otherwise passes.', async (_case, verify) => {
  await expect(assertHashing({ verify })).rejects.toThrow('This runtime does not support Argon2id');
  await expect(assertHashing(passwordHashing)).resolves.toBeUndefined();
});

describe('Password hashes', () => {
  it('match the test vector of the standard (RFC 9106 section 5.3).', () => {
    const tag = argon2Sync('argon2id', {
      message: Buffer.alloc(32, 1),
      nonce: Buffer.alloc(16, 2),
      secret: Buffer.alloc(8, 3),
      associatedData: Buffer.alloc(12, 4),
      parallelism: 4,
      tagLength: 32,
      memory: 32,
      passes: 3,
    });
    expect(tag.toString('hex')).toBe('0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659');
  });

  it('of the reference implementation can be verified.', async () => {
    expect(await verifyPassword('password', reference)).toBe(true);
    expect(await verifyPassword('passworD', reference)).toBe(false);
  });

  it('are PHC strings with random salts.', async () => {
    const [one, other] = await Promise.all([hashPassword('a'), hashPassword('a')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(other);
    expect(await verifyPassword('a', one)).toBe(true);
    expect(await verifyPassword('b', one)).toBe(false);
  });

  it('are computed from passwords in NFC, without trimming or case folding.', async () => {
    const stored = await hashPassword('Caf\u00e9 ');
    expect(await verifyPassword('Cafe\u0301 ', stored)).toBe(true);
    expect(await verifyPassword('Caf\u00e9', stored)).toBe(false);
    expect(await verifyPassword('caf\u00e9 ', stored)).toBe(false);
  });

  it('with outdated parameters need a rehash.', async () => {
    expect(needsRehash(reference, 'a')).toBe(true);
    expect(needsRehash(await hashPassword('a'), 'a')).toBe(false);
  });

  it('include a dummy with the parameters of new hashes, which matches no password.', async () => {
    expect(needsRehash(passwordHashing.dummy, 'a')).toBe(false);
    expect(await verifyPassword('', passwordHashing.dummy)).toBe(false);
  });

  it('are rejected if they are malformed.', async () => {
    await expect(verifyPassword('a', '$2b$10$abc')).rejects.toThrow('not an Argon2id PHC string');
  });
});
