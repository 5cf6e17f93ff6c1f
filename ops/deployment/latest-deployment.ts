import { CliError } from '../stage/operator.ts';
import { type DeployedStack, isLeftOver, type StageStacks } from '../stage/stage-stacks.ts';
import { isChanging } from './stack-states.ts';

/** Returns the stacks that a stage's file asks for. */
export function ownStacks({
  stacks,
  configuration,
}: Pick<StageStacks, 'stacks' | 'configuration'>): readonly DeployedStack[] {
  return stacks.filter(stack => !isLeftOver(stack, configuration));
}

/**
 * Refuses to go on during a deployment, which would lead the aliases to its own versions when it ends.
 *
 * @throws {CliError} with the commands that end it, or wait for its end.
 */
export function refuseWhileDeploying({ stacks, region }: StageStacks): void {
  const changing = stacks.find(isChanging);
  if (!changing?.found) return;
  const { stackName, found } = changing;
  const state = found.StackStatus ?? '';
  const options = `--region ${region} --stack-name ${stackName}`;
  const waitFor = (change: string) => `aws cloudformation wait stack-${change}-complete ${options}`;
  const end =
    state === 'UPDATE_IN_PROGRESS'
      ? `To end it and take it back: aws cloudformation cancel-update-stack ${options}, then ${waitFor('rollback')}. Otherwise wait`
      : 'Wait';
  const isFirst = state === 'ROLLBACK_IN_PROGRESS'; // no waiter ends well
  const [change = ''] = state.startsWith('UPDATE_ROLLBACK') ? ['rollback'] : state.toLowerCase().split('_');
  const until = isFirst ? `${waitFor('create')}, which ends with 255 then` : waitFor(change);
  throw new CliError(
    `a deployment is under way: stack ${stackName} is in state ${state}. ${end} until it has ended (${until}), then run this command again: it takes back the versions of that deployment that are still in use.`,
  );
}

/** The versions that a deployment published, by the functions' names in Lambda. */
type Published = ReadonlyMap<string, number>;

/**
 * Returns what the latest deployment published, and what the one before it did. It may have ended in some stacks only, and need not have
 * published a function of each. Where it was taken back whole, `undone` is the stack in which it failed, and it published nothing;
 * `earlier` is what the one before `before` published then.
 */
export function publishedByLatest(stacks: readonly DeployedStack[]): {
  readonly latest: Published;
  readonly before: Published;
  readonly earlier: Published;
  readonly undone?: DeployedStack;
} {
  const updated = stacks
    .map(stack => {
      const { found } = stack;
      const at = (found?.LastUpdatedTime ?? found?.CreationTime)?.getTime() ?? 0;
      // Its time is that of the attempt, its output of the release before.
      return { stack, at, releases: releasesOf(found), hasFailed: /ROLLBACK|FAILED/.test(found?.StackStatus ?? '') };
    })
    .sort((one, other) => other.at - one.at);
  const [last] = updated;
  const [reached] = updated.filter(({ releases, hasFailed }) => releases.length > 0 && !hasFailed);
  const all = updated.flatMap(({ releases }) => releases);
  // A commit that is deployed again is the same release: in a stack that it did not reach yet, it may be the one before.
  const inUse = updated.flatMap(({ releases }) => releases.slice(0, 1));
  const publishedBy = (wanted: Release | undefined, releases: readonly Release[]): Published =>
    new Map(releases.filter(({ release }) => release === wanted?.release).flatMap(({ versions }) => versions));
  if (last && isUndone(last, updated)) {
    const [stands, earlier] = last.releases.length > 0 ? last.releases : (reached?.releases ?? []); // the data stack tells of none
    const before = publishedBy(stands, inUse);
    return { latest: new Map(), before, earlier: publishedBy(earlier, all), undone: last.stack };
  }
  const [latest, before] = reached?.releases ?? [];
  return { latest: publishedBy(latest, inUse), before: publishedBy(before, all), earlier: new Map() };
}

interface Updated {
  readonly stack: DeployedStack;
  readonly releases: readonly Release[];
  readonly hasFailed: boolean;
}

/** Returns whether the update of a stack was taken back, and no other stack, the latest first, went on to that release before. */
function isUndone({ stack, releases }: Updated, all: readonly Updated[]): boolean {
  if (!/^UPDATE_(ROLLBACK|FAILED)/.test(stack.found?.StackStatus ?? '')) return false;
  const [stands, earlier] = releases.map(({ release }) => release);
  if (stands === undefined) return true; // the data stack, which comes first
  return all.every(({ releases: [latest, before], hasFailed }, index) => {
    if (hasFailed || latest === undefined || latest.release === stands) return true;
    // A stack that failed went past this one where it stands at another release, another where it is at this one.
    const later = all.slice(1, index).some(other => other.hasFailed !== (other.releases[0]?.release === stands));
    return before?.release !== stands && (later || latest.release === earlier); // an earlier deployment did not reach it
  });
}

interface Release {
  readonly release: string;
  readonly versions: readonly (readonly [name: string, version: number])[];
}

/** Returns the latest release of a stack and the one before, as its output names them: `RELEASE NAME:VERSION,…` of each. */
export function releasesOf(found: DeployedStack['found']): readonly Release[] {
  const output = found?.Outputs?.find(({ OutputKey }) => OutputKey === 'Release')?.OutputValue;
  const [release, published, before, publishedBefore] = output?.split(' ') ?? [];
  return [
    { release, published },
    { release: before, published: publishedBefore },
  ].flatMap(({ release, published = '' }) => {
    if (release === undefined) return [];
    const versions = published
      .split(',')
      .filter(Boolean)
      .map(text => {
        const [name = '', number] = text.split(':');
        return [name, Number(number)] as const;
      });
    return [{ release, versions }];
  });
}
