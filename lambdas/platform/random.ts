import { randomBytes } from 'node:crypto';

export interface Random {
  /** Returns a random number in [0, 1), for jitter and samples but never for secrets. */
  readonly number: () => number;
  /** Returns `length` cryptographically secure random bytes. */
  readonly bytes: (length: number) => Buffer;
}

export const systemRandom: Random = { number: Math.random, bytes: randomBytes };
