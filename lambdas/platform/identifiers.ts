import { type Random, systemRandom } from './random.ts';

/** Returns a new identifier of `length` characters. Functions receive it as a parameter, so tests can predict identifiers. */
export type MakeId = (length: number) => string;

/**
 * Creates a generator of random identifiers, which consist of letters and digits and need no percent-encoding. Identifiers of 22 characters
 * have 131 bits, and identifiers of 43 characters have 256 bits.
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

/** Bytes from this value upwards are skipped, because they would favour the first characters of the alphabet. */
const unbiasedLimit = 256 - (256 % alphabet.length);

/** Returns a random identifier, for programs that run once. */
export const randomId: MakeId = makeRandomIds(systemRandom);
