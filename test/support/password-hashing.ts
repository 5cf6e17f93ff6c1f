import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { type KeyDerivation, systemKeyDerivation } from '../../lambdas/platform/key-derivation.ts';
import { systemRuntime } from '../../lambdas/platform/runtime.ts';

/** Password hashing as the token function has it. */
export const passwordHashing = makePasswordHashing(systemRuntime);

/** Derives keys by Argon2 at the least cost that it has, whatever cost is asked for: for tests about something else. */
export const quickKeyDerivation: KeyDerivation = {
  ...systemKeyDerivation,
  argon2: (algorithm, message, cost) =>
    systemKeyDerivation.argon2(algorithm, message, { ...cost, memory: 8 * cost.parallelism, passes: 1 }),
};

/** Hashes for stores of tests. */
export const quickHashing = makePasswordHashing({ ...systemRuntime, keyDerivation: quickKeyDerivation });

/**
 * Makes a derivation at no cost, for tests that log in thousands of times: every password that is right is every user's password. A user
 * is made with a right one.
 */
export function judgedBy(isRight: (password: string) => boolean | Promise<boolean>): KeyDerivation {
  return {
    ...systemKeyDerivation,
    argon2: async (_algorithm, message, { tagLength }) =>
      Buffer.alloc(tagLength, (await isRight(String(message))) ? 1 : 0),
  };
}
