import { randomBytes } from 'node:crypto';

export interface Random {
  /** Draws from [0, 1): for jitter and samples, never for a secret. */
  readonly number: () => number;
  /** Returns that many bytes that nobody can foresee. */
  readonly bytes: (length: number) => Buffer;
}

/** The machine's own. */
export const systemRandom: Random = { number: Math.random, bytes: randomBytes };
