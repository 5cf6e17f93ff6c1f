import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import * as z from 'zod/mini';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Keyring } from '../../platform/keyring.ts';

/** The claims of an access token (RFC 9068 section 2.2). `iat` and `exp` are in seconds since the epoch. */
export type AccessTokenClaims = z.output<typeof claimsSchema>;

/** The claims that the caller provides. */
export type AccessTokenSubject = Pick<AccessTokenClaims, 'sub' | 'client_id' | 'account_id' | 'sid'> & {
  /** The scopes, separated by spaces. May be empty. */
  readonly scope: string;
};

/** Creates the function that issues access tokens and signs them with the active signing key. */
export function makeAccessTokenMint({
  keyring,
  issuer,
  audience,
  now,
  makeId,
}: {
  readonly issuer: string;
  readonly audience: string;
  /** Must be able to open signing keys. */
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly now: Clock;
  readonly makeId: MakeId;
}) {
  return async function mintAccessToken({ scope, ...subject }: AccessTokenSubject, seconds: number): Promise<string> {
    const iat = Math.floor(now() / 1_000); // set before any await, because the caller counts the lifetime from this time
    const key = await keyring.active('signing');
    const header = { alg: key.algorithm, typ: tokenType, kid: key.keyId };
    const claims = {
      iss: issuer,
      aud: audience,
      ...subject,
      ...(scope === '' ? {} : { scope }),
      iat,
      exp: iat + seconds,
      jti: makeId(22),
    };
    return signJwt(header, claims, await keyring.open(key));
  };
}

export type VerifyAccessToken = ReturnType<typeof makeAccessTokenVerification>;

export interface AccessTokenVerificationDependencies {
  /** {auth_url}. */
  readonly issuer: string;
  /** {base_url}. */
  readonly audience: string;
  /** Must be able to find signing keys. */
  readonly keyring: Pick<Keyring, 'find'>;
  readonly now: Clock;
}

/** The checks to skip. Only revocation accepts expired tokens. */
export interface VerificationOptions {
  readonly mayBeExpired?: boolean;
}

/**
 * Creates the function that returns the claims of a valid access token. It checks the signature, `alg`, `typ`, `iss`, `aud` and `exp`
 * (RFC 9068 section 4, RFC 8725 section 3). It allows no clock skew, because this service also issues the tokens. It does not check the
 * session (see `active-session.ts`).
 */
export function makeAccessTokenVerification(dependencies: AccessTokenVerificationDependencies) {
  const { keyring, issuer, audience, now } = dependencies;
  const publicKeys = new Map<string, KeyObject>();

  return async function verifyAccessToken(
    token: string,
    { mayBeExpired = false }: VerificationOptions = {},
  ): Promise<AccessTokenClaims | undefined> {
    const header = readHeader(token);
    const key = header && (await keyring.find('signing', header.kid));
    if (!key?.algorithm || !key.publicKey) return undefined;
    try {
      const { payload } = await jwtVerify(token, publicKey(key.keyId, key.publicKey), {
        algorithms: [key.algorithm],
        typ: tokenType,
        issuer,
        audience,
        currentDate: new Date(now()),
        ...(mayBeExpired ? { clockTolerance: Number.MAX_SAFE_INTEGER } : {}),
      });
      return claimsSchema.safeParse(payload).data;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };

  /** Returns a parsed public key. Parses each key only once. */
  function publicKey(keyId: string, der: Uint8Array): KeyObject {
    const cached = publicKeys.get(keyId);
    if (cached) return cached;
    const parsed = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
    publicKeys.set(keyId, parsed);
    return parsed;
  }
}

/** A claim that must not be empty. */
const name = z.string().check(z.minLength(1));

const claimsSchema = z.object({
  iss: name,
  aud: name,
  sub: name,
  client_id: name,
  account_id: name,
  /** The id of the token's session. */
  sid: name,
  scope: z.optional(z.string()),
  jti: name,
  iat: z.number(),
  exp: z.number(),
});

/** The `typ` header of JWT access tokens (RFC 9068 section 2.1). */
const tokenType = 'at+jwt';

/**
 * Signs a JWT in compact form (RFC 7515 section 7.1) with the key's algorithm, ES256 or RS256 (RFC 7518 section 3). This takes half
 * as long as WebCrypto, which JWT libraries use.
 */
function signJwt(header: object, claims: object, key: KeyObject): string {
  const signingInput = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signingInput), { key, dsaEncoding: 'ieee-p1363' });
  return `${signingInput}.${signature.toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/**
 * Reads the header of a compact JWT. Accepts only the parameters that this service writes. Other parameters, such as `jwk` or `jku`, could
 * make the verification use another key.
 */
function readHeader(token: string): z.output<typeof headerSchema> | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.');
  const isCanonical = signature !== '' && Buffer.from(signature, 'base64url').toString('base64url') === signature;
  if (rest.length > 0 || !isCanonical || decode(claims) === undefined) return undefined;
  return headerSchema.safeParse(decode(header)).data;
}

const headerSchema = z.strictObject({ alg: z.string(), typ: z.literal(tokenType), kid: z.string() });

/** Decodes a part of a JWT if it is exactly the output of `encode`, without padding, spare bits or duplicate members. */
function decode(part: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && encode(value) === part ? value : undefined;
  } catch {
    return undefined;
  }
}
