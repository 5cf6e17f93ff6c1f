import type { LiveFunction } from './live-functions.ts';

/** A version that Lambda keeps of a function. */
export interface Version {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
}

/** A function, the versions that Lambda keeps of it, and whether the latest deployment published the one that it leads to. */
export interface Candidate extends LiveFunction {
  readonly versions: readonly Version[];
  readonly isOfLatest: boolean;
}

/** The way back of one function. */
export interface Move<Of extends Candidate = Candidate> {
  readonly function: Of;
  readonly from: Version;
  readonly to: Version;
  /** The versions that were taken back by now and are still there, the newest first: the record has room for some forty. */
  readonly takenBack: readonly number[];
}

/** The choice of a roll-back. */
export interface Choice {
  /** Names of functions; none stands for those whose version the latest deployment published. */
  readonly names: readonly string[];
  /** Functions that are rolled back go one more version back. */
  readonly again: boolean;
}

/**
 * Plans a roll-back. Each function goes to the version before the one that it leads to, past those that were taken back before. What
 * is rolled back stays where it is, so that the command may be repeated, unless it is to go back again. `stuck` are functions without a
 * version to go back to.
 */
export function planRollback<Of extends Candidate>(functions: readonly Of[], { names, again }: Choice) {
  const moves: Move<Of>[] = [];
  const already: Of[] = [];
  const stuck: Of[] = [];
  for (const one of functions) {
    const { name, version, sharing, record, isOfLatest } = one;
    const isRolledBack = record?.to === version && sharing.length === 0;
    const hasReturned = record?.from.includes(version) === true;
    const isMeant = isOfLatest || isRolledBack || hasReturned || sharing.length > 0;
    if (names.length > 0 ? !names.includes(name) : !isMeant) continue;
    if (isRolledBack && !again) {
      already.push(one);
      continue;
    }
    const move = wayBack(one);
    if (move) moves.push(move);
    else stuck.push(one);
  }
  return { moves, already, stuck };
}

/** Returns the way from the newest version that gets requests; `undefined` where no version is left before it. */
function wayBack<Of extends Candidate>(one: Of): Move<Of> | undefined {
  const { version, sharing, record, versions } = one;
  const from = Math.max(version, ...sharing);
  const earlier = record?.from.filter(taken => versions.some(kept => kept.version === taken)) ?? [];
  const takenBack = [...new Set([from, ...earlier])].sort((a, b) => b - a);
  const [to] = versions
    .filter(kept => kept.version < from && !takenBack.includes(kept.version))
    .sort((a, b) => b.version - a.version);
  const publishedAt = versions.find(kept => kept.version === from)?.publishedAt ?? Number.NaN;
  return to && { function: one, from: { version: from, publishedAt }, to, takenBack };
}
