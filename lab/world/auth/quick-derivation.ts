import { createHash } from 'node:crypto';
import type { ProcessOutside } from '@emissor/cloud/virtual';
import type { KeyDerivation } from '../../../lambdas/platform/key-derivation.ts';

/**
 * Makes what stands in for Argon2: one SHA-256, which takes the process as long as Argon2 takes it on a whole core. Of the other kinds it
 * knows none: nobody here was imported.
 */
export function makeQuickDerivation({ process, time }: Pick<ProcessOutside, 'process' | 'time'>): KeyDerivation {
  return {
    argon2: async (_algorithm, message, { nonce, tagLength }) => {
      process.work(hashTime);
      await time.turn();
      return tagOf(message, nonce, tagLength);
    },
    pbkdf2: () => Promise.reject(new Error('Nobody here has a hash by PBKDF2.')),
  };
}

/** Returns whether a stored hash, a PHC string, is that of a password. */
export function isPasswordOf(password: string, passwordHash: string): boolean {
  const [, , , , salt = '', tag = ''] = passwordHash.split('$');
  const expected = Buffer.from(tag, 'base64');
  return tagOf(Buffer.from(password), Buffer.from(salt, 'base64'), expected.length).equals(expected);
}

/** Milliseconds. */
const hashTime = 100;

function tagOf(message: Buffer, salt: Buffer, length: number): Buffer {
  return createHash('sha256').update(salt).update(message).digest().subarray(0, length);
}
