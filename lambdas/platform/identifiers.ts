import { type Random, systemRandom } from './random.ts';

/** Makes a new identifier of that many characters. Passed in, so that tests can foresee it. */
export type MakeId = (length: number) => string;

/**
 * Makes the maker of random identifiers of letters and digits only, which percent-encoding leaves as they are. 22 characters carry
 * 131 bits, 43 carry 256.
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

/** Bytes from here up would favour the first letters of the alphabet, so they are skipped. */
const unbiasedLimit = 256 - (256 % alphabet.length);

/** Makes a random identifier with the machine's own bytes, for programs that run once. */
export const randomId: MakeId = makeRandomIds(systemRandom);
