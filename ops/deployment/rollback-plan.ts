import { isoTime } from '../../lambdas/platform/clock.ts';
import { rollbackState } from '../../lambdas/platform/deployment/rollback-record.ts';
import { CliError } from '../stage/operator.ts';
import type { DeployedStack } from '../stage/stage-stacks.ts';
import type { LiveFunction } from './live-functions.ts';

/** A version that Lambda keeps of a function. */
export interface Version {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
}

/** A function, the versions that Lambda keeps of it, and what published them. */
export interface Candidate extends LiveFunction {
  readonly versions: readonly Version[];
  /** The latest deployment published a version of it. */
  readonly isOfLatest: boolean;
  /** The version that the deployment before the latest published; `undefined` where it published none, or nothing tells. */
  readonly publishedBefore: number | undefined;
  /** The version that the deployment before that one published, where the latest was undone: a roll-back may have begun with that one. */
  readonly publishedEarlier?: number | undefined;
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
  /** Names of functions; none stands for those whose version the latest deployment published; with `again`, the one before it. */
  readonly names: readonly string[];
  /** Functions that are rolled back go one more version back, instead of staying. */
  readonly again: boolean;
}

/**
 * Plans a roll-back. Each function goes to the version before the one that it leads to, past those that were taken back before. What
 * is rolled back stays where it is, so that the command may be repeated, unless it is to go back again: `already`. `stuck` are functions
 * without a version to go back to.
 */
export function planRollback<Of extends Candidate>(functions: readonly Of[], { names, again }: Choice) {
  const moves: Move<Of>[] = [];
  const already: Of[] = [];
  const stuck: Of[] = [];
  const isBeforeLeft = functions.some(one => !isTakenBack(one, one.publishedBefore) && wayBack(one));
  for (const one of functions) {
    const { name, version, sharing, record, isOfLatest, publishedBefore, publishedEarlier } = one;
    const state = sharing.length > 0 ? 'shifting' : rollbackState(version, record);
    const isOfBefore = !isTakenBack(one, isBeforeLeft ? publishedBefore : publishedEarlier);
    const isRolledBack = state === 'rolled back';
    const isOfRelease = (again ? isOfBefore : isOfLatest) || (state !== undefined && !isRolledBack);
    const isMeant = names.length > 0 ? names.includes(name) : isOfRelease;
    if (isRolledBack && !(again && isMeant)) {
      if (isMeant || names.length === 0) already.push(one);
      continue;
    }
    if (!isMeant) continue;
    const move = wayBack(one);
    if (move) moves.push(move);
    else stuck.push(one);
  }
  return { moves, already, stuck };
}

/**
 * Refuses to go on with the release before.
 *
 * @throws {CliError} where nothing is rolled back, where a part of the latest release is not, and where nothing that the release before
 * published is in use.
 */
export function refuseAgain(label: string, candidates: readonly Candidate[]): void {
  const isRolledBack = candidates.some(({ version, record }) => record?.to === version);
  if (!isRolledBack) throw new CliError(`nothing of ${label} is rolled back: type it without --again first.`);
  const left = planRollback(candidates, { names: [], again: false }).moves.map(({ function: { name } }) => name);
  if (left.length > 0) {
    throw new CliError(`${left.join(', ')} of the latest release is in use still: type it without --again first.`);
  }
  if (planRollback(candidates, { names: [], again: true }).moves.length > 0) return;
  throw new CliError(
    `nothing tells of a release before that published a version in use: name the functions that are to go further back: ${candidates.map(({ name }) => name).join(', ')}.`,
  );
}

/**
 * Refuses to go on where a plan without names moves nothing.
 *
 * @param undone - the stack in which the latest deployment failed, where all of it was taken back.
 * @throws {CliError} with the functions that may be named.
 */
export function refuseNothing(label: string, candidates: readonly Candidate[], undone?: DeployedStack): never {
  const latest = `the latest deployment of ${label}`;
  const all = candidates.map(({ name }) => name).join(', ');
  if (!undone) {
    throw new CliError(
      `nothing to roll back: ${latest} published no version that is in use. Name functions to take them back all the same: ${all}.`,
    );
  }
  const { stackName, found } = undone;
  if (found?.StackStatus?.endsWith('FAILED')) {
    throw new CliError(
      `${latest} ended half-way (stack ${stackName} is in state ${found.StackStatus}), and it is not known which of its versions are in use: name the functions that are to go back: ${all}.`,
    );
  }
  const before = candidates.flatMap(({ name, version, versions, publishedBefore }) =>
    versions.filter(kept => kept.version === version && version === publishedBefore).map(kept => ({ ...kept, name })),
  );
  const at = before.length > 0 ? isoTime(Math.max(...before.map(({ publishedAt }) => publishedAt))) : '?';
  throw new CliError(
    `${latest} was taken back and none of its versions is in use; to take back the release before (published at ${at}), name functions: ${before.map(({ name }) => name).join(', ') || all}.`,
  );
}

/** Returns whether a version of a function was taken back, or there is none. */
function isTakenBack({ record }: Candidate, version: number | undefined): boolean {
  return version === undefined || record?.from.includes(version) === true;
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
