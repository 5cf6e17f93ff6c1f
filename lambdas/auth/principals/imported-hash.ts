import { argon2, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * A password hash that another system made, and the work that it takes. It is stored as it came behind `imported`, so that it is told
 * from a hash of ours with the same parameters: ours are of normalised passwords.
 */
export interface ImportedHash {
  /** Returns whether a text is the password that was hashed. */
  readonly matches: (password: string) => Promise<boolean>;
}

/** The prefix of a stored hash that was imported. */
export const importedPrefix = 'imported';

/**
 * Parses a hash of another system, without the prefix: argon2id, argon2i, scrypt and PBKDF2 in the PHC string format
 * (https://github.com/P-H-C/phc-string-format), and bcrypt. Returns `undefined` for any other, and for one that takes more work or
 * memory than a login may.
 */
export function parseImportedHash(text: string): ImportedHash | undefined {
  if (text.length > longestHash) return undefined;
  for (const [form, parse] of forms) {
    const match = form.exec(text);
    if (match) return parse(match);
  }
  return undefined;
}

/** The kinds of hashes that are taken, for people. */
export const importedKinds =
  'argon2id or argon2i ($argon2id$v=19$m=…,t=…,p=…; m up to 65536, t times m up to 262144, p up to 4), scrypt ($scrypt$ln=…,r=…,p=…; up to ' +
  '64 MiB), PBKDF2 ($pbkdf2-sha256$i=… or -sha512; up to 1000000), bcrypt ($2a$, $2b$ or $2y$; cost 4 to 13)';

/** More than any of the forms takes. */
const longestHash = 256;

type Form = readonly [form: RegExp, parse: (match: RegExpExecArray) => ImportedHash | undefined];

const forms: readonly Form[] = [
  [/^\$(argon2id?)\$v=19\$m=(\d{1,5}),t=(\d{1,5}),p=(\d)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/, parseArgon2],
  [/^\$scrypt\$ln=(\d{1,2}),r=(\d{1,5}),p=(\d{1,5})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/, parseScrypt],
  [/^\$pbkdf2-(sha256|sha512)\$i=(\d{1,7})(?:,l=(\d{1,3}))?\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/, parsePbkdf2],
  [/^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/, parseBcrypt],
];

/** RFC 9106 section 3.1: at least 8 KiB for each lane. */
function parseArgon2([, algorithm, ...fields]: RegExpExecArray): ImportedHash | undefined {
  const [memory = 0, passes = 0, parallelism = 0] = fields.slice(0, 3).map(Number);
  const stored = saltAndTag(fields.slice(3));
  const fits =
    memory <= 65_536 &&
    passes * memory <= 262_144 &&
    parallelism <= 4 &&
    passes >= 1 &&
    parallelism >= 1 &&
    memory >= 8 * parallelism;
  if (!fits || !stored) return undefined;
  const { salt: nonce, tag } = stored;
  return derived(tag, (message, done) =>
    argon2(
      algorithm === 'argon2i' ? 'argon2i' : 'argon2id',
      { message, nonce, memory, passes, parallelism, tagLength: tag.length },
      done,
    ),
  );
}

/** RFC 7914. */
function parseScrypt([, ...fields]: RegExpExecArray): ImportedHash | undefined {
  const [logN = 0, r = 0, p = 0] = fields.slice(0, 3).map(Number);
  const stored = saltAndTag(fields.slice(3));
  const N = 2 ** logN;
  if (logN < 1 || r < 1 || p < 1 || 128 * N * r * p > 64 * mebibyte || !stored) return undefined;
  const { salt, tag } = stored;
  // OpenSSL counts working blocks beside the table that the limit is about.
  return derived(tag, (message, done) => scrypt(message, salt, tag.length, { N, r, p, maxmem: 160 * mebibyte }, done));
}

/** RFC 8018 section 5.2. */
function parsePbkdf2([, digest = '', count, length, ...fields]: RegExpExecArray): ImportedHash | undefined {
  const iterations = Number(count);
  const stored = saltAndTag(fields);
  if (iterations < 1 || iterations > 1_000_000 || !stored) return undefined;
  const { salt, tag } = stored;
  if (length !== undefined && Number(length) !== tag.length) return undefined;
  return derived(tag, (message, done) => pbkdf2(message, salt, iterations, tag.length, digest, done));
}

/** It looks at the first 72 bytes of a password, as every bcrypt does. */
function parseBcrypt({ 0: text, 1: cost }: RegExpExecArray): ImportedHash | undefined {
  if (Number(cost) < 4 || Number(cost) > 13) return undefined;
  // Evaluated when it is first needed: no other login waits for it.
  return { matches: async password => (await import('bcryptjs')).compare(password, text) };
}

const mebibyte = 1_048_576;

/** Returns a hash that is compared in constant time with what is derived from a password. */
function derived(tag: Buffer, derive: (message: Buffer, done: Done) => void): ImportedHash {
  async function matches(password: string): Promise<boolean> {
    const found = await new Promise<Buffer>((resolve, reject) => {
      derive(Buffer.from(password, 'utf8'), (error, key) => (error ? reject(error) : resolve(key)));
    });
    return timingSafeEqual(found, tag);
  }
  return { matches };
}

type Done = (error: Error | null, key: Buffer) => void;

/** Decodes base64 without padding; `undefined` where that is none, or has a length that no system uses. */
function saltAndTag([salt = '', tag = '']: readonly string[]):
  | { readonly salt: Buffer; readonly tag: Buffer }
  | undefined {
  const bytes = { salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
  const isExact = encode(bytes.salt) === salt && encode(bytes.tag) === tag;
  const isUsual = bytes.salt.length >= 8 && bytes.salt.length <= 64 && bytes.tag.length >= 16 && bytes.tag.length <= 64;
  return isExact && isUsual ? bytes : undefined;
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
