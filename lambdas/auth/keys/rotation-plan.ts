import type { KeyKind, KeyringKey, SigningAlgorithm } from '../../platform/keyring.ts';
import { accessTokenSeconds, refreshAbsoluteSeconds } from '../lifetimes.ts';

/** The keys of one kind to create and to delete. */
export interface RotationPlan {
  readonly create?: { readonly generation: number; readonly activeFrom: number };
  readonly remove: readonly KeyringKey[];
}

/** The state of a key: published but not used yet, in use, or kept for what was made with it. */
export type KeyState = 'next' | 'active' | 'retiring';

/** Returns the state of a key among all keys of its kind. It is not stored, but follows from the time. */
export function keyState(key: KeyringKey, keys: readonly KeyringKey[], now: number): KeyState {
  if (lastUse(key, keys) <= now) return 'retiring';
  return key.activeFrom <= now ? 'active' : 'next';
}

/** The moment when the newest key of a kind gets a successor: all in milliseconds since the epoch. */
export interface NextRotation {
  /** From then on the daily rotation makes the next key. In the past: it was not made yet, but is due. */
  readonly dueAt: number;
  /** The moment when that key will be the one in use, if the rotation runs every day. */
  readonly activeFrom: number;
}

/** Returns the moment when the next key of one kind is due, given all its keys, oldest first; `undefined` while there is none at all. */
export function nextRotation(keys: readonly KeyringKey[]): NextRotation | undefined {
  const newest = keys.at(-1);
  if (!newest) return undefined;
  const activeFrom = newest.activeFrom + period;
  return { dueAt: activeFrom - createdBeforeUse, activeFrom };
}

/**
 * Plans the rotation of one kind of key, given all its keys, oldest first. The first key is active at once. A change of
 * the signing algorithm makes a new key due too.
 */
export function planRotation(
  kind: KeyKind,
  keys: readonly KeyringKey[],
  now: number,
  algorithm?: SigningAlgorithm,
): RotationPlan {
  const newest = keys.at(-1);
  if (!newest) return { create: { generation: 1, activeFrom: now }, remove: [] };

  const isOtherAlgorithm = newest.algorithm !== algorithm;
  const due = isOtherAlgorithm ? now : newest.activeFrom + period;
  const isDue = isOtherAlgorithm || now >= due - createdBeforeUse;
  const create = {
    generation: newest.generation + 1,
    activeFrom: Math.max(due, now + publishedBeforeUse),
  };
  const remove = keys.filter(key => lastUse(key, keys) + keptAfterUse[kind] <= now);
  return { ...(isDue ? { create } : {}), remove };
}

const day = 86_400_000;

/** From a key's first use to its successor's. */
const period = 90 * day;

/**
 * From the last use of a key to its deletion. Signing keys stay until the last token they signed has expired; MAC keys as long as the
 * session of any refresh token they authenticate, for reuse detection; encryption keys for ever, since the values that they encrypted stay.
 */
const keptAfterUse: Readonly<Record<KeyKind, number>> = {
  signing: accessTokenSeconds * 1_000 + day,
  mac: refreshAbsoluteSeconds * 1_000 + day,
  encryption: Number.POSITIVE_INFINITY,
};

/** Returns the moment when a key stops being the active one: the first use of any later one; `Infinity` while there is none. */
function lastUse(key: KeyringKey, keys: readonly KeyringKey[]): number {
  return Math.min(...keys.filter(({ generation }) => generation > key.generation).map(({ activeFrom }) => activeFrom));
}

/** A key is published at least this long before its first use, so that every cache has it by then. */
const publishedBeforeUse = day;

/** Created this early, a key is published in time even if the daily run fails once. */
const createdBeforeUse = 2 * publishedBeforeUse;
