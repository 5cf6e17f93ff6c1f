import { IAMClient } from '@aws-sdk/client-iam';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SSMClient } from '@aws-sdk/client-ssm';
import { isoTime } from '../../lambdas/platform/clock.ts';
import type { AuditedTask } from '../audit/audit.ts';
import type { Subject } from '../audit/audit-log.ts';
import { CliError } from '../stage/operator.ts';
import type { StageStacks } from '../stage/stage-stacks.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { moveAll, raiseNumber } from './alias-moves.ts';
import { type Deployed, readCandidates } from './kept-versions.ts';
import { ownStacks, publishedByLatest, refuseWhileDeploying } from './latest-deployment.ts';
import { type LiveFunction, listFunctions } from './live-functions.ts';
import { readMissingGrants } from './missing-grants.ts';
import { type Choice, type Move, planRollback, refuseAgain, refuseNothing, type Version } from './rollback-plan.ts';

export type Rollback = Awaited<ReturnType<typeof rollBack>>;

/** The way back of one function, for people and programs. */
export type MoveView = Awaited<ReturnType<typeof viewMove>>;

/**
 * Leads the aliases of functions back to the version before, all at once. It may be repeated: what is rolled back stays, and what is not
 * follows.
 *
 * @throws {CliError} for a local run, during a deployment, for an unknown function, and where there is nothing to go back to.
 */
export async function rollBack({ target, progress, confirm, nameDone }: AuditedTask, { names, again }: Choice) {
  const { connect, clock } = target;
  const deployed = requireStage(target);
  const parameter = requireOutput(target, 'RollbackNumberParameter');
  refuseWhileDeploying(deployed);
  progress('Reading where the functions lead');
  const candidates = await readCandidates(connect, deployed);
  refuseUnknown(names, candidates);
  if (again && names.length === 0) refuseAgain(target.label, candidates);

  const { moves, already, stuck } = planRollback(candidates, { names, again });
  const nameOf = ({ name }: LiveFunction) => name;
  if (stuck.length > 0 && (names.length > 0 || moves.length + already.length === 0)) {
    throw new CliError(noVersion(stuck.map(nameOf)));
  }
  if (moves.length + already.length === 0) {
    refuseNothing(target.label, candidates, publishedByLatest(ownStacks(deployed)).undone);
  }
  const iam = connect(IAMClient);
  const views = await Promise.all(moves.map(move => viewMove(iam, move)));
  const outcome = {
    stage: deployed.configuration.stage,
    moved: views,
    already: already.map(nameOf),
    stuck: stuck.map(nameOf),
  };
  const functions: string[] = [];
  if (moves.length === 0) {
    nameDone({ functions });
    return outcome;
  }
  const left = already.length === 0 ? '' : ` It leaves where they are: ${already.map(nameOf).join(', ')}.`;
  await confirm(`This leads ${views.map(sentenceOf).join(', ')} of ${target.label}.${left}`);
  progress('Leading the functions back');
  // First: a number too many publishes versions in vain, and one too few would leave functions behind at the next deployment.
  await raiseNumber(connect(SSMClient), parameter, candidates);
  const onMoved = ({ function: { name }, from, to }: Move) => {
    functions.push(`${name} ${from.version}->${to.version}`);
    nameDone({ functions });
  };
  await moveAll(connect(LambdaClient), moves, { again, now: clock.now(), onMoved });
  return outcome;
}

function requireStage({ deployed, label }: Target): StageStacks {
  if (deployed) return deployed;
  throw new CliError(
    `${label} has one version of each function, and none to go back to: name a deployed stage (ops --stage NAME rollback).`,
  );
}

function refuseUnknown(names: readonly string[], known: readonly LiveFunction[]): void {
  const unknown = names.filter(name => known.every(one => one.name !== name));
  if (unknown.length === 0) return;
  throw new CliError(
    `there is no function ${unknown.join(', ')}: the functions are ${known.map(({ name }) => name).join(', ')}.`,
  );
}

function noVersion(names: readonly string[]): string {
  const which = names.join(', ');
  return `${which} ${names.length === 1 ? 'has' : 'have'} no version to go back to: it would be the first, was deleted, or was rolled back itself. Deploy the earlier commit.`;
}

async function viewMove(iam: IAMClient, { function: one, from, to }: Move<Deployed>) {
  const wants = one.wants.get(to.version);
  return {
    function: one.name,
    from: from.version,
    fromPublishedAt: timeOf(from),
    to: to.version,
    toPublishedAt: timeOf(to),
    /** The resources that the older version names and its role has no grant on. */
    missingGrants: wants ? await readMissingGrants(iam, wants, one.wants.get(from.version)?.environment ?? {}) : [],
  };
}

function timeOf({ publishedAt }: Version): string | null {
  return Number.isNaN(publishedAt) ? null : isoTime(publishedAt);
}

function sentenceOf({ function: name, from, fromPublishedAt, to, toPublishedAt }: MoveView): string {
  return `${name} from version ${from} (${fromPublishedAt ?? '?'}) back to ${to} (${toPublishedAt ?? '?'})`;
}

/** Names the functions that a stage has; without names, by which deployment they were published. */
export async function nameAsked({ deployed, connect }: Target, { names, again }: Choice): Promise<Subject> {
  if (!deployed) return {};
  if (names.length === 0) return { all: again ? 'of the deployment before' : 'of the latest deployment' };
  const known = await listFunctions(connect, ownStacks(deployed));
  return { functions: names.filter(name => known.some(one => one.name === name)) };
}
