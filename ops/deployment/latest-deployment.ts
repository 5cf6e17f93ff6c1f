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
  const options = `--region ${region} --stack-name ${stackName}`;
  const end =
    found.StackStatus === 'UPDATE_IN_PROGRESS'
      ? `To end it and take it back: aws cloudformation cancel-update-stack ${options}. Otherwise wait`
      : 'Wait';
  throw new CliError(
    `a deployment is under way: stack ${stackName} is in state ${found.StackStatus}. ${end} until it has ended (aws cloudformation wait stack-${found.StackStatus === 'CREATE_IN_PROGRESS' ? 'create' : 'update'}-complete ${options}), then try again.`,
  );
}

/** The versions that a deployment published, by the functions' names in Lambda. */
type Published = ReadonlyMap<string, number>;

/**
 * Returns what the latest deployment that succeeded published, and what the one before it did. It may have ended in some stacks only, and
 * need not have published a function of each.
 */
export function publishedByLatest(stacks: readonly DeployedStack[]): Record<'latest' | 'before', Published> {
  const ended = stacks.flatMap(({ found }) => {
    const releases = releasesOf(found);
    const at = (found?.LastUpdatedTime ?? found?.CreationTime)?.getTime() ?? 0;
    const failed = found?.StackStatus?.includes('ROLLBACK') === true; // its time is that of the attempt, its output of the release before
    return releases.length === 0 ? [] : [{ releases, at, failed }];
  });
  const [newest] = ended.filter(({ failed }) => !failed).sort((one, other) => other.at - one.at);
  const [latest, before] = newest?.releases ?? [];
  const publishedBy = (id: string | undefined, releases: readonly Release[]): Published =>
    new Map(releases.filter(({ release }) => release === id).flatMap(({ versions }) => versions));
  return {
    // A commit that is deployed again is the same release: in a stack that it did not reach yet, it may be the one before.
    latest: publishedBy(
      latest?.release,
      ended.flatMap(({ releases }) => releases.slice(0, 1)),
    ),
    before: publishedBy(
      before?.release,
      ended.flatMap(({ releases }) => releases),
    ),
  };
}

interface Release {
  readonly release: string;
  readonly versions: readonly (readonly [name: string, version: number])[];
}

/**
 * Returns the latest release of a stack and the one before, as its output tells them: `RELEASE NAME:VERSION,…` of each. Of one that told
 * names only nothing is known but that it was there.
 */
export function releasesOf(found: DeployedStack['found']): readonly Release[] {
  const output = found?.Outputs?.find(({ OutputKey }) => OutputKey === 'Release')?.OutputValue;
  const [release, published, before, publishedBefore] = output?.split(' ') ?? [];
  return [
    { release, published },
    { release: before, published: publishedBefore },
  ].flatMap(({ release, published = '' }) => {
    if (release === undefined) return [];
    const versions = published.split(',').flatMap(text => {
      const [name = '', number] = text.split(':');
      return number === undefined ? [] : [[name, Number(number)] as const];
    });
    return [{ release, versions }];
  });
}
