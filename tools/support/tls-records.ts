import { createCipheriv, hash } from 'node:crypto';

/** Writes the TLS records of a server's connection, including records that TLS libraries never write. */
export interface RecordWriter {
  /** Encrypts a record. `padding` adds zeros, which TLS 1.3 allows (RFC 8446 section 5.4). */
  record(type: ContentType, content: Uint8Array, padding?: number): Buffer;
  /** Encrypts a KeyUpdate (RFC 8446 section 4.6.3), and switches to the next keys. TLS 1.2 has no KeyUpdate. */
  keyUpdate(isRequested: boolean): Buffer;
}

/** The content type of a record (RFC 8446 section 5.1). */
type ContentType = keyof typeof contentTypes;

/** Creates the writer for a connection with TLS_AES_128_GCM_SHA256. `firstSecret` is the server's first application traffic secret. */
export function makeTls13Writer(firstSecret: Buffer): RecordWriter {
  let secret = firstSecret;
  let keys = keysOf(secret);
  let sequence = 0;

  return {
    record,
    keyUpdate(isRequested) {
      const update = record('handshake', Buffer.from([keyUpdateType, 0, 0, 1, isRequested ? 1 : 0]));
      secret = expandLabel(secret, 'traffic upd', 32);
      keys = keysOf(secret);
      sequence = 0;
      return update;
    },
  };

  function record(type: ContentType, content: Uint8Array, padding = 0): Buffer {
    const inner = Buffer.concat([content, Buffer.of(contentTypes[type]), Buffer.alloc(padding)]);
    const nonce = Buffer.from(keys.iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ sequence) >>> 0, 8);
    sequence += 1;
    const header = headerOf('data', inner.length + tagLength);
    return Buffer.concat([header, encrypt(keys.key, nonce, header, inner)]);
  }
}

/**
 * Creates the writer for the records that follow the server's Finished, in TLS 1.2 with ECDHE-ECDSA-AES128-GCM-SHA256
 * (RFC 5246 section 6.3, RFC 5288 section 3).
 */
export function makeTls12Writer(masterSecret: Buffer, clientRandom: Buffer, serverRandom: Buffer): RecordWriter {
  const block = expandTls12(masterSecret, 'key expansion', Buffer.concat([serverRandom, clientRandom]), 40);
  const key = block.subarray(16, 32);
  const salt = block.subarray(36, 40);
  let sequence = 1;

  return {
    record(type, content) {
      const explicitNonce = Buffer.alloc(8);
      explicitNonce.writeUInt32BE(sequence, 4);
      sequence += 1;
      const additionalData = Buffer.concat([explicitNonce, headerOf(type, content.length)]);
      const encrypted = encrypt(key, Buffer.concat([salt, explicitNonce]), additionalData, content);
      return Buffer.concat([headerOf(type, explicitNonce.length + encrypted.length), explicitNonce, encrypted]);
    },
    keyUpdate() {
      throw new Error('TLS 1.2 has no KeyUpdate.');
    },
  };
}

/** Returns a NewSessionTicket message (RFC 8446 section 4.6.1) of nearly minimal length. */
export function sessionTicket(): Buffer {
  const body = Buffer.from('00001c2001020304010300010700' + '00', 'hex'); // lifetime, age, nonce, ticket, no extensions
  return Buffer.concat([Buffer.from([newSessionTicketType, 0, 0, body.length]), body]);
}

const contentTypes = { changeCipherSpec: 20, alert: 21, handshake: 22, data: 23 } as const;
const newSessionTicketType = 4;
const keyUpdateType = 24;
const tagLength = 16;

function headerOf(type: ContentType, length: number): Buffer {
  return Buffer.from([contentTypes[type], 3, 3, length >> 8, length & 0xff]);
}

function keysOf(secret: Buffer) {
  return { key: expandLabel(secret, 'key', 16), iv: expandLabel(secret, 'iv', 12) };
}

/** Computes HKDF-Expand-Label (RFC 8446 section 7.1) without a context. The length is at most that of one hash. */
function expandLabel(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([length >> 8, length & 0xff, name.length]), name, Buffer.of(0, 1)]);
  return hmac(secret, info).subarray(0, length);
}

/** Computes the pseudorandom function of TLS 1.2 (RFC 5246 section 5). */
function expandTls12(secret: Buffer, label: string, random: Buffer, length: number): Buffer {
  const seed = Buffer.concat([Buffer.from(label), random]);
  let expanded = Buffer.alloc(0);
  for (let round = hmac(secret, seed); expanded.length < length; round = hmac(secret, round))
    expanded = Buffer.concat([expanded, hmac(secret, Buffer.concat([round, seed]))]);
  return expanded.subarray(0, length);
}

/** Computes HMAC-SHA-256 (RFC 2104) with two hashes. Node's HMAC is several times slower, and would limit floods. */
function hmac(key: Buffer, data: Buffer): Buffer {
  const inner = Buffer.alloc(blockLength, 0x36);
  const outer = Buffer.alloc(blockLength, 0x5c);
  for (let at = 0; at < key.length; at++) {
    inner[at] = (inner[at] ?? 0) ^ (key[at] ?? 0);
    outer[at] = (outer[at] ?? 0) ^ (key[at] ?? 0);
  }
  const digest = hash('sha256', Buffer.concat([inner, data]), 'buffer');
  return hash('sha256', Buffer.concat([outer, digest]), 'buffer');
}

const blockLength = 64;

function encrypt(key: Buffer, nonce: Buffer, additional: Buffer, content: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-128-gcm', key, nonce).setAAD(additional);
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}
