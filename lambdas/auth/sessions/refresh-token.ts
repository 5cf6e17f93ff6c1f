import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../../platform/keyring.ts';

/** The content of a refresh token, which its MAC authenticates. Only the MAC is secret. */
export interface RefreshTokenContent {
  /** The id of the session, in the form `<userId>-<random>`. */
  readonly sessionId: string;
  /** The number of the token in its session, starting at 1. */
  readonly counter: number;
  readonly keyId: string;
}

/** A well-formed refresh token from a request. Its MAC may be unverified. */
export interface PresentedRefreshToken extends RefreshTokenContent {
  readonly userId: string;
  readonly mac: Buffer;
}

/** Formats a refresh token as `sessionId.counter.keyId.MAC`. The same content and key always produce the same token. */
export function writeRefreshToken(content: RefreshTokenContent, macKey: KeyObject): string {
  return `${content.sessionId}.${content.counter}.${content.keyId}.${macOf(content, macKey).toString('base64url')}`;
}

/** Parses a refresh token. Returns `undefined` if `writeRefreshToken` could not have written it. */
export function readRefreshToken(token: string): PresentedRefreshToken | undefined {
  const { sessionId, userId, counter, keyId, mac } = form.exec(token)?.groups ?? {};
  if (!sessionId || !userId || !counter || !keyId || !mac) return undefined;
  const bytes = Buffer.from(mac, 'base64url');
  if (bytes.toString('base64url') !== mac) return undefined; // rejects spare bits in the last character
  return { sessionId, userId, counter: Number(counter), keyId, mac: bytes };
}

/** Returns whether this service issued a refresh token. Compares the MACs in constant time. */
export function isAuthentic(token: PresentedRefreshToken, macKey: KeyObject): boolean {
  return timingSafeEqual(macOf(token, macKey), token.mac);
}

export type VerifyRefreshToken = ReturnType<typeof makeRefreshTokenVerification>;

/** Creates the function that parses a refresh token and verifies its MAC. The keyring must be able to open MAC keys. */
export function makeRefreshTokenVerification(keyring: Pick<Keyring, 'find' | 'open'>) {
  return async function verifyRefreshToken(text: string): Promise<PresentedRefreshToken | undefined> {
    const token = readRefreshToken(text);
    const key = token && (await keyring.find('mac', token.keyId));
    return key && isAuthentic(token, await keyring.open(key)) ? token : undefined;
  };
}

function macOf({ sessionId, counter, keyId }: RefreshTokenContent, macKey: KeyObject): Buffer {
  return createHmac('sha256', macKey).update(`${sessionId}.${counter}.${keyId}`).digest();
}

const form =
  /^(?<sessionId>(?<userId>[0-9A-Za-z]{1,64})-[0-9A-Za-z]{1,64})\.(?<counter>[1-9]\d{0,14})\.(?<keyId>[0-9A-Za-z]{1,64})\.(?<mac>[\w-]{43})$/;
