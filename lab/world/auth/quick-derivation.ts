import { createHash } from 'node:crypto';
import type { ProcessRuntime } from '@emissor/cloud/virtual';
import type { KeyDerivation } from '../../../lambdas/platform/key-derivation.ts';

/**
 * Creates the substitute for Argon2, one SHA-256, which takes the process as long as Argon2 on a whole core. It
 * supports no other kind, because no user was imported.
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

/** Returns whether a stored hash, a PHC string, is the hash of a password. */
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
