import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A key for the certificates in a chain. It needs no private part, because verifying an invalid signature costs as much as a valid one. */
export interface ChainKey {
  /** The SubjectPublicKeyInfo (RFC 5280 section 4.1). */
  readonly publicKey: Buffer;
  /** The AlgorithmIdentifier of its signatures. */
  readonly algorithm: Buffer;
  /** Signs the content, or returns random bytes with the size of a signature. */
  sign(content: Buffer): Buffer;
}

/** Returns an RSA key with random digits. The cost of verifying a signature increases with the size of the exponent. */
export function randomRsaKey(bits: number, exponent: Buffer): ChainKey {
  return {
    publicKey: sequence(
      sequence(objectId('2a864886f70d010101'), asnNull),
      bitString(sequence(integer(oddNumber(bits / 8)), integer(exponent))),
    ),
    algorithm: sha256WithRsa,
    sign: () => Buffer.concat([Buffer.of(0x40), randomBytes(bits / 8 - 1)]),
  };
}

/** Creates an RSA key that can sign. */
export function signingRsaKey(bits: number): ChainKey & { readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    algorithm: sha256WithRsa,
    sign: content => sign('sha256', content, privateKey),
    privateKey,
  };
}

/** Creates an ML-DSA key (FIPS 204) that can sign. */
export function signingLatticeKey(kind: 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87'): ReturnType<typeof signingRsaKey> {
  const { publicKey, privateKey } = generateKeyPairSync(kind);
  const last = { 'ml-dsa-44': 17, 'ml-dsa-65': 18, 'ml-dsa-87': 19 }[kind];
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    algorithm: sequence(objectId(`6086480165030403${last.toString(16)}`)), // RFC 9881
    sign: content => sign(undefined, content, privateKey),
    privateKey,
  };
}

/**
 * Creates a server certificate and its chain of authorities up to the root. All certificates have the same key. The server
 * certificate is `more` bytes larger than usual.
 */
export function makeSignedChain(host: string, length: number, key: ReturnType<typeof signingRsaKey>, more = 0) {
  const names = sequence(objectId('551d11'), octets(sequence(tagged(0x82, Buffer.from(host))))); // subjectAltName
  const chain = Array.from({ length }, (_, serial) =>
    certificate({
      serial,
      publicKey: key.publicKey,
      issuer: key,
      issuerNumber: Math.min(serial + 1, length - 1),
      extension: Buffer.concat([serial === 0 ? names : isAuthority, padding(typicalSize + (serial === 0 ? more : 0))]),
    }),
  );
  return {
    key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: chain.map(pemOf).join(''),
    root: pemOf(chain.at(-1) ?? emptyBuffer),
  };
}

/**
 * Creates a P-256 server certificate and a chain of about `bytes` bytes. The key of each certificate signs the previous
 * one. Every certificate has an issuer, so a client verifies every signature, although all are invalid.
 */
export function makeChain(host: string, bytes: number, makeKey: () => ChainKey) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let issuer = makeKey();
  const chain = [
    certificate({
      serial: 0,
      publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      issuer,
      extension: sequence(objectId('551d11'), octets(sequence(tagged(0x82, Buffer.from(host))))), // subjectAltName
    }),
  ];
  for (let serial = 1; sizeOf(chain) < bytes; serial++) {
    const subject = issuer;
    issuer = makeKey();
    chain.push(certificate({ serial, publicKey: subject.publicKey, issuer, extension: isAuthority }));
  }
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: chain.map(pemOf).join(''),
  };
}

function certificate(fields: {
  serial: number;
  publicKey: Buffer;
  issuer: ChainKey;
  issuerNumber?: number;
  extension: Buffer;
}): Buffer {
  const { serial, publicKey, issuer, issuerNumber = serial + 1, extension } = fields;
  const content = sequence(
    tagged(0xa0, integer(Buffer.of(2))), // version 3
    integer(Buffer.of(serial)),
    issuer.algorithm,
    nameOf(issuerNumber),
    sequence(time('250101000000Z'), time('460101000000Z')),
    nameOf(serial),
    publicKey,
    tagged(0xa3, sequence(extension)),
  );
  return sequence(content, issuer.algorithm, bitString(issuer.sign(content)));
}

/** Returns a random odd number of exactly `bytes` bytes. */
function oddNumber(bytes: number): Buffer {
  const digits = randomBytes(bytes);
  digits.writeUInt8((digits[0] ?? 0) | 0x80, 0);
  digits.writeUInt8((digits.at(-1) ?? 0) | 1, bytes - 1);
  return digits;
}

function sizeOf(chain: readonly Buffer[]): number {
  return chain.reduce((sum, { length }) => sum + length, 0);
}

function pemOf(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function nameOf(number: number): Buffer {
  return sequence(tagged(0x31, sequence(objectId('550403'), tagged(0x0c, Buffer.from(`certificate ${number}`)))));
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const longForm = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : longForm)]), content]);
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts);
const objectId = (hex: string) => tagged(0x06, Buffer.from(hex, 'hex'));
const octets = (content: Buffer) => tagged(0x04, content);
const bitString = (content: Buffer) => tagged(0x03, Buffer.of(0), content);
const time = (text: string) => tagged(0x17, Buffer.from(text));
const integer = (digits: Buffer) => tagged(0x02, ...((digits[0] ?? 0) & 0x80 ? [Buffer.of(0)] : []), digits);

const asnNull = Buffer.of(5, 0);
const emptyBuffer = Buffer.alloc(0);
const sha256WithRsa = sequence(objectId('2a864886f70d01010b'), asnNull);
const isTrue = Buffer.of(1, 1, 0xff);
const isAuthority = sequence(objectId('551d13'), isTrue, octets(sequence(isTrue))); // basicConstraints, critical
/** Returns an unknown extension with `bytes` bytes of content. */
const padding = (bytes: number) => sequence(objectId('2b060104018200'), octets(Buffer.alloc(bytes)));

/** The typical size in bytes of key ids, policies, list URLs and timestamps (RFC 6962) in a certificate from a public authority. */
const typicalSize = 700;
