import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../../platform/keyring.ts';

/** The content of a refresh token: its session, its counter and its MAC key. Only the MAC is secret. */
export interface RefreshTokenContent {
  /** `<userId>-<random>` */
  readonly sessionId: string;
  /** 1 for the first token of a session. Each rotation adds 1. */
  readonly counter: number;
  readonly keyId: string;
}

/** A presented refresh token: well-formed, with an unverified MAC. */
export interface PresentedRefreshToken extends RefreshTokenContent {
  readonly userId: string;
  readonly mac: Buffer;
}

/** Writes a refresh token: `sessionId.counter.keyId.MAC`. The same content and key result in the same token. */
export function writeRefreshToken(content: RefreshTokenContent, macKey: KeyObject): string {
  return `${content.sessionId}.${content.counter}.${content.keyId}.${macOf(content, macKey).toString('base64url')}`;
}

/** Parses a refresh token. Returns `undefined` unless it has exactly the form of `writeRefreshToken`. */
export function readRefreshToken(token: string): PresentedRefreshToken | undefined {
  const { sessionId, userId, counter, keyId, mac } = form.exec(token)?.groups ?? {};
  if (!sessionId || !userId || !counter || !keyId || !mac) return undefined;
  const bytes = Buffer.from(mac, 'base64url');
  if (bytes.toString('base64url') !== mac) return undefined; // rejects spare bits in the last character
  return { sessionId, userId, counter: Number(counter), keyId, mac: bytes };
}

/** Returns whether this service wrote a presented refresh token, in constant time. */
export function isAuthentic(token: PresentedRefreshToken, macKey: KeyObject): boolean {
  return timingSafeEqual(macOf(token, macKey), token.mac);
}

export type VerifyRefreshToken = ReturnType<typeof makeRefreshTokenVerification>;

/** Creates the verification of refresh tokens, which returns the token if this service wrote it. The keyring must open MAC keys. */
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
