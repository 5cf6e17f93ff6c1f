import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { type KeyDerivation, systemKeyDerivation } from '../../lambdas/platform/key-derivation.ts';
import { systemRuntime } from '../../lambdas/platform/runtime.ts';

/** The password hashing of the token function. */
export const passwordHashing = makePasswordHashing(systemRuntime);

/** Derives keys with the minimum cost of Argon2, for tests that do not test hashing. */
export const quickKeyDerivation: KeyDerivation = {
  ...systemKeyDerivation,
  argon2: (algorithm, message, cost) =>
    systemKeyDerivation.argon2(algorithm, message, { ...cost, memory: 8 * cost.parallelism, passes: 1 }),
};

export const quickHashing = makePasswordHashing({ ...systemRuntime, keyDerivation: quickKeyDerivation });

/** Creates a key derivation without cost, for tests with thousands of logins. `isCorrect` checks the passwords of all users. */
export function fakeKeyDerivation(isCorrect: (password: string) => boolean | Promise<boolean>): KeyDerivation {
  return {
    ...systemKeyDerivation,
    argon2: async (_algorithm, message, { tagLength }) =>
      Buffer.alloc(tagLength, (await isCorrect(String(message))) ? 1 : 0),
  };
}
