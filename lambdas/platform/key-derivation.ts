import { argon2, pbkdf2 } from 'node:crypto';

/** Derives keys from passwords without blocking the event loop. */
export interface KeyDerivation {
  /** Derives a key by RFC 9106, version 0x13. @throws if this runtime does not support Argon2. */
  readonly argon2: (algorithm: 'argon2id' | 'argon2i', message: Buffer, cost: Argon2Cost) => Promise<Buffer>;
  /** Derives a key by RFC 8018 section 5.2. */
  readonly pbkdf2: (
    message: Buffer,
    salt: Buffer,
    iterations: number,
    length: number,
    hash: 'sha256' | 'sha512',
  ) => Promise<Buffer>;
}

/** The salt, cost and length of an Argon2 hash. */
interface Argon2Cost {
  readonly nonce: Buffer;
  /** The memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  /** The length in bytes. */
  readonly tagLength: number;
}

/** The implementation in Node.js. */
export const systemKeyDerivation: KeyDerivation = {
  argon2: (algorithm, message, cost) => settled(done => argon2(algorithm, { message, ...cost }, done)),
  pbkdf2: (message, salt, iterations, length, hash) =>
    settled(done => pbkdf2(message, salt, iterations, length, hash, done)),
};

/** Replaces `promisify` of `node:util`, which would delay a cold start more than the rest of this file. */
function settled(start: (done: (error: Error | null, key: Buffer) => void) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    start((error, key) => (error ? reject(error) : resolve(key)));
  });
}
