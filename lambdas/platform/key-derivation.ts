import { argon2, pbkdf2 } from 'node:crypto';

/** Derives keys from passwords, off the thread that answers requests. */
export interface KeyDerivation {
  /** RFC 9106, version 0x13. @throws where this runtime does not compute it. */
  readonly argon2: (algorithm: 'argon2id' | 'argon2i', message: Buffer, cost: Argon2Cost) => Promise<Buffer>;
  /** RFC 8018 section 5.2. */
  readonly pbkdf2: (
    message: Buffer,
    salt: Buffer,
    iterations: number,
    length: number,
    hash: 'sha256' | 'sha512',
  ) => Promise<Buffer>;
}

/** The salt of an Argon2 hash, its cost and its length. */
interface Argon2Cost {
  readonly nonce: Buffer;
  /** KiB */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  /** Bytes. */
  readonly tagLength: number;
}

/** Node's own. */
export const systemKeyDerivation: KeyDerivation = {
  argon2: (algorithm, message, cost) => settled(done => argon2(algorithm, { message, ...cost }, done)),
  pbkdf2: (message, salt, iterations, length, hash) =>
    settled(done => pbkdf2(message, salt, iterations, length, hash, done)),
};

/** `promisify` of `node:util` would cost a cold start more than the rest of this file. */
function settled(begin: (done: (error: Error | null, key: Buffer) => void) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    begin((error, key) => (error ? reject(error) : resolve(key)));
  });
}
