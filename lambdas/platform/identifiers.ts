import { type Random, systemRandom } from './random.ts';

/** Returns a new identifier of `length` characters. Callers pass it in so that tests can predict it. */
export type MakeId = (length: number) => string;

/**
 * Creates a generator of random identifiers of letters and digits, which percent-encoding does not change. 22 characters have
 * 131 bits, 43 have 256.
 */
export function makeRandomIds({ bytes }: Pick<Random, 'bytes'>): MakeId {
  return function makeId(length) {
    let id = '';
    while (id.length < length) {
      for (const byte of bytes(length)) {
        if (byte < unbiasedLimit && id.length < length) id += alphabet[byte % alphabet.length];
      }
    }
    return id;
  };
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Bytes from this value are skipped, because they would favour the first characters of the alphabet. */
const unbiasedLimit = 256 - (256 % alphabet.length);

/** Returns a random identifier, for programs that run once. */
export const randomId: MakeId = makeRandomIds(systemRandom);
