import type { KeyKind, KeyringKey, SigningAlgorithm } from '../../platform/keyring.ts';
import { accessTokenSeconds, refreshAbsoluteSeconds } from '../lifetimes.ts';

/** The keys of one kind to create and to delete. */
export interface RotationPlan {
  readonly create?: { readonly generation: number; readonly activeFrom: number };
  readonly remove: readonly KeyringKey[];
}

/** The state of a key. A `next` key is published but not used yet. A `retiring` key is used only for existing tokens and values. */
export type KeyState = 'next' | 'active' | 'retiring';

/** Returns the state of a key among all keys of its kind. The state depends on the time and is not stored. */
export function keyState(key: KeyringKey, keys: readonly KeyringKey[], now: number): KeyState {
  if (lastUse(key, keys) <= now) return 'retiring';
  return key.activeFrom <= now ? 'active' : 'next';
}

/** The times for the next key of a kind, in milliseconds since the epoch. */
export interface NextRotation {
  /** The time from which the daily rotation creates the next key. If this time is in the past, the key is due. */
  readonly dueAt: number;
  /** The time at which the next key becomes active if the rotation runs every day. */
  readonly activeFrom: number;
}

/** Returns the next rotation of a kind, or `undefined` if there are no keys. `keys` contains all keys of the kind, oldest first. */
export function nextRotation(keys: readonly KeyringKey[]): NextRotation | undefined {
  const newest = keys.at(-1);
  if (!newest) return undefined;
  const activeFrom = newest.activeFrom + period;
  return { dueAt: activeFrom - createdBeforeUse, activeFrom };
}

/**
 * Plans the rotation of a kind. `keys` contains all its keys, oldest first. The first key is active immediately. A change to the
 * signing algorithm also makes a new key due.
 */
export function planRotation(
  kind: KeyKind,
  keys: readonly KeyringKey[],
  now: number,
  algorithm?: SigningAlgorithm,
): RotationPlan {
  const newest = keys.at(-1);
  if (!newest) return { create: { generation: 1, activeFrom: now }, remove: [] };

  const hasAlgorithmChanged = newest.algorithm !== algorithm;
  const firstUse = hasAlgorithmChanged ? now : newest.activeFrom + period;
  const isDue = hasAlgorithmChanged || now >= firstUse - createdBeforeUse;
  const create = { generation: newest.generation + 1, activeFrom: Math.max(firstUse, now + publishedBeforeUse) };
  const remove = keys.filter(key => lastUse(key, keys) + retentionAfterUse[kind] <= now);
  return { ...(isDue ? { create } : {}), remove };
}

const day = 86_400_000;

/** The time from a key's first use to the first use of its successor, in milliseconds. */
const period = 90 * day;

/**
 * The time from the last use of a key to its deletion, in milliseconds. Signing keys remain until their last token has expired. For reuse
 * detection, MAC keys remain as long as the sessions of their refresh tokens. Encryption keys are never deleted.
 */
const retentionAfterUse: Readonly<Record<KeyKind, number>> = {
  signing: accessTokenSeconds * 1_000 + day,
  mac: refreshAbsoluteSeconds * 1_000 + day,
  encryption: Number.POSITIVE_INFINITY,
};

/** Returns the time at which a later key replaces a key, or `Infinity` for the newest key. */
function lastUse(key: KeyringKey, keys: readonly KeyringKey[]): number {
  return Math.min(...keys.filter(({ generation }) => generation > key.generation).map(({ activeFrom }) => activeFrom));
}

/** The minimum time from the publication of a key to its first use, in milliseconds. By then, every cache contains the key. */
const publishedBeforeUse = day;

/** The time from a key's creation to its first use, in milliseconds. The key is published in time even if the daily run fails once. */
const createdBeforeUse = 2 * publishedBeforeUse;
