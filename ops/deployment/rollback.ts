import { LambdaClient, paginateListVersionsByFunction, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError, describeError } from '../stage/operator.ts';
import { describeStacks, type StageStacks } from '../stage/stage-stacks.ts';
import type { Target } from '../stage/target.ts';
import { type LiveFunction, liveAlias, ownStacks, readLiveFunctions } from './live-functions.ts';
import { isChanging, requireNoDeployment } from './stack-states.ts';

/** A release with versions that still exist in Lambda. */
export interface Release {
  readonly release: string;
  /** The time at which its last version was published, in RFC 3339. */
  readonly publishedAt: string;
  /** The newest version of each function in the release, by the name of the function in the code. */
  readonly versions: ReadonlyMap<string, number>;
}

/** Reads the functions of a stage and the releases that still exist in Lambda, newest first. */
export async function readReleases({ connect }: Pick<Target, 'connect'>, deployed: StageStacks) {
  const client = connect(LambdaClient);
  const functions = await readLiveFunctions(connect, ownStacks(deployed));
  const published = await Promise.all(
    functions.map(async ({ name, functionName: FunctionName }) => {
      const rows: { name: string; release: string; version: number; publishedAt: string }[] = [];
      for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName })) {
        for (const { Version = '', Description: release = '', LastModified = '' } of Versions) {
          if (/^\d+$/.test(Version)) rows.push({ name, release, version: Number(Version), publishedAt: LastModified });
        }
      }
      return rows.sort((one, other) => one.version - other.version);
    }),
  );
  const releases = [...Map.groupBy(published.flat(), ({ release }) => release)].map(([release, versions]): Release => {
    const at = Math.max(...versions.map(({ publishedAt }) => Date.parse(publishedAt)));
    return {
      release,
      publishedAt: new Date(at).toISOString(),
      versions: new Map(versions.map(({ name, version }) => [name, version])),
    };
  });
  return { functions, releases: releases.sort((one, other) => (one.publishedAt < other.publishedAt ? 1 : -1)) };
}

/** The change of one alias. */
export interface Move {
  readonly function: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Points all aliases of a stage to the versions of a release, and removes all traffic weights. The call can be repeated.
 * @throws {CliError} if no function has the release, a deployment is in progress, or an alias could not be moved.
 */
export async function rollBack(task: AuditedTask, deployed: StageStacks, release: string) {
  const { target, progress, confirm, recordResult } = task;
  const describe = () => describeStacks(deployed.configuration, target.connect);
  requireNoDeployment(deployed);
  progress('Reading the releases');
  const { functions, releases } = await readReleases(target, deployed);
  const chosen = releases.find(one => one.release === release);
  if (!chosen) {
    const available = releases.map(one => one.release).join(', ') || 'none';
    throw new CliError(`${target.label} has no release ${release}. Available releases: ${available}.`);
  }
  recordResult({ release });
  const without = functions.filter(({ name }) => !chosen.versions.has(name)).map(({ name }) => name);
  const moves = functions.flatMap(one => {
    const to = chosen.versions.get(one.name);
    const isUnchanged = to === undefined || (one.version === to && one.sharing.length === 0);
    return isUnchanged ? [] : [{ ...one, to }];
  });
  const outcome = { release, moved: moves.map(moveOf), without };
  if (moves.length === 0) return outcome;
  const changes = moves.map(({ name, version, to }) => `${name} from version ${version} to ${to}`).join(', ');
  await confirm(`This changes ${target.label}: ${changes}.`);
  requireNoDeployment(await describe());
  progress('Moving the aliases');
  const lambda = target.connect(LambdaClient);
  const results = await Promise.allSettled(moves.map(move => moveAlias(lambda, move)));
  const movedAliases = moves.filter((_, index) => results[index]?.status === 'fulfilled');
  recordResult({ functions: movedAliases.map(({ name, version, to }) => `${name} ${version}->${to}`) });
  const failed = results.flatMap((result, index) =>
    result.status === 'rejected' ? [`${moves[index]?.name} (${describeError(result.reason, target.unreachable)})`] : [],
  );
  const now = await describe();
  if (now.stacks.some(isChanging) || timesOf(now) !== timesOf(deployed)) {
    throw new CliError(
      'A deployment started during the rollback and may move the aliases again. Wait until it has ended, then run the same command again.',
    );
  }
  if (failed.length === 0) return outcome;
  throw new CliError(
    `${failed.length} of ${moves.length} aliases were not moved: ${failed.join(', ')}. Run the same command again.`,
  );
}

/** Returns the last update times of stacks as text. */
function timesOf({ stacks }: Pick<StageStacks, 'stacks'>): string {
  return stacks.map(({ found }) => found?.LastUpdatedTime?.toISOString()).join();
}

function moveOf({ name, version, to }: LiveFunction & { readonly to: number }): Move {
  return { function: name, from: version, to };
}

async function moveAlias(
  lambda: LambdaClient,
  { functionName, revisionId, to }: LiveFunction & { readonly to: number },
) {
  await lambda.send(
    new UpdateAliasCommand({
      FunctionName: functionName,
      Name: liveAlias,
      FunctionVersion: String(to),
      RoutingConfig: { AdditionalVersionWeights: {} },
      ...(revisionId === undefined ? {} : { RevisionId: revisionId }), // the update fails if the alias has changed
    }),
  );
}
