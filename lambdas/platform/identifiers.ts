import { randomBytes } from 'node:crypto';

/** Makes a new identifier of that many characters. Passed in, so that tests can foresee it. */
export type MakeId = (length: number) => string;

/**
 * A random identifier of letters and digits only, which percent-encoding leaves as they are.
 * 22 characters carry 131 bits, 43 carry 256.
 */
export function randomId(length: number): string {
  let id = '';
  while (id.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < unbiasedLimit && id.length < length) id += alphabet[byte % alphabet.length];
    }
  }
  return id;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Bytes from here up would favour the first letters of the alphabet, so they are skipped. */
const unbiasedLimit = 256 - (256 % alphabet.length);
