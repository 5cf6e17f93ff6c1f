import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Client } from '../../../lambdas/auth/principals/client.ts';
import type { User } from '../../../lambdas/auth/principals/user.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';

/** Returns the unverified claims of an access token, or `undefined` if the text is not an access token. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, claims, signature, fourth] = token.split('.');
  const isJwt = token.startsWith('ey') && signature !== undefined && fourth === undefined; // a refresh token has four parts
  return claims !== undefined && isJwt ? decode(claims) : undefined;
}

/** Creates a function that verifies an access token with the keys in the keyring, as RFC 9068 requires. */
export function makeSignatureCheck(keyring: readonly Item[]): (token: string) => boolean {
  const keys = new Map<unknown, KeyObject>();
  for (const { kind, keyId, publicKey } of keyring) {
    if (kind !== 'signing' || !(publicKey instanceof Uint8Array)) continue;
    keys.set(keyId, createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }));
  }

  return function isSigned(token) {
    const [header = '', claims = '', signature = ''] = token.split('.');
    const { kid, alg, typ } = decode(header);
    const key = keys.get(kid);
    if (!key || alg !== 'ES256' || typ !== 'at+jwt') return false;
    const signingInput = Buffer.from(`${header}.${claims}`);
    return verify('sha256', signingInput, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  };
}

/** Returns the requested scopes that both the role and the client allow. A token must have exactly these scopes. */
export function scopeOf({ scopes }: Client, { role }: User, requested = adminScope): string {
  const roleScopes = role === 'admin' ? adminScope.split(' ') : [];
  return roleScopes.filter(name => requested.split(' ').includes(name) && scopes.some(one => one === name)).join(' ');
}

const adminScope = 'webhooks:read webhooks:manage';

function decode(part: string): Readonly<Record<string, unknown>> {
  const decoded: Readonly<Record<string, unknown>> = JSON.parse(Buffer.from(part, 'base64url').toString());
  return decoded;
}
