import { createHash } from 'node:crypto';

/** A stream of random numbers that depends only on its seed and name. */
export type SeededRandom = ReturnType<typeof makeSeededRandom>;

/**
 * Creates a stream of random numbers. Each consumer has a stream with its own name, so additional draws do not affect
 * other consumers. The generator is sfc32. Its initial state is a hash of the seed and the name.
 */
export function makeSeededRandom(seed: number, name: string) {
  const state = createHash('sha256').update(`${seed}/${name}`).digest();
  let [a, b, c] = [state.readInt32LE(0), state.readInt32LE(4), state.readInt32LE(8)];
  let counter = 1;
  return {
    /** Draws a number in [0, 1). */
    number: () => nextUint32() / 2 ** 32,
    bytes: (length: number) => Buffer.from(Array.from({ length }, () => nextUint32() >>> 24)),
    /** Returns true with the probability `share`. It draws no number if the probability is 0. */
    happens: (share = 0) => share > 0 && nextUint32() / 2 ** 32 < share,
  };

  function nextUint32(): number {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
