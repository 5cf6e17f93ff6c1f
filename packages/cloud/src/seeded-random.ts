import { createHash } from 'node:crypto';

/** Chance that is the same for the same seed. */
export type SeededRandom = ReturnType<typeof makeSeededRandom>;

/**
 * Makes a stream of chance. Each user has one by its own name, so that a draw more in one place changes nothing in another.
 * The numbers are those of sfc32, whose state begins with a hash of seed and name.
 */
export function makeSeededRandom(seed: number, name: string) {
  const state = createHash('sha256').update(`${seed}/${name}`).digest();
  let [a, b, c] = [state.readInt32LE(0), state.readInt32LE(4), state.readInt32LE(8)];
  let counter = 1;
  return {
    /** Draws from [0, 1). */
    number: () => whole() / 2 ** 32,
    bytes: (length: number) => Buffer.from(Array.from({ length }, () => whole() >>> 24)),
    /** Returns whether something of this share happens. Draws nothing where the share is 0. */
    happens: (share = 0) => share > 0 && whole() / 2 ** 32 < share,
  };

  function whole(): number {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
