import { createHash } from 'node:crypto';
import type { ProcessRuntime } from '@emissor/cloud/virtual';
import type { KeyDerivation } from '../../../lambdas/platform/key-derivation.ts';

/**
 * Creates a substitute for Argon2 that computes one SHA-256 hash and takes as long as Argon2 in virtual time. It does not
 * support PBKDF2, because worlds have no imported users.
 */
export function makeQuickDerivation({ process, time }: Pick<ProcessRuntime, 'process' | 'time'>): KeyDerivation {
  return {
    argon2: async (_algorithm, message, { nonce, tagLength }) => {
      process.work(hashTime);
      await time.turn();
      return tagOf(message, nonce, tagLength);
    },
    pbkdf2: () => Promise.reject(new Error('This world has no PBKDF2 hashes.')),
  };
}

/** Returns whether a stored hash in the PHC string format matches a password. */
export function isPasswordOf(password: string, passwordHash: string): boolean {
  const [, , , , salt = '', tag = ''] = passwordHash.split('$');
  const expected = Buffer.from(tag, 'base64');
  return tagOf(Buffer.from(password), Buffer.from(salt, 'base64'), expected.length).equals(expected);
}

/** The CPU time for a hash on a whole core, in milliseconds. */
const hashTime = 100;

function tagOf(message: Buffer, salt: Buffer, length: number): Buffer {
  return createHash('sha256').update(salt).update(message).digest().subarray(0, length);
}
