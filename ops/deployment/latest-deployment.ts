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

/**
 * Returns the functions, by their names in Lambda, that got a version by the latest deployment that succeeded. It may have ended in
 * some stacks only, and need not have published a function of each.
 */
export function publishedByLatest(stacks: readonly DeployedStack[]): ReadonlySet<string> {
  const ended = stacks.flatMap(({ found }) => {
    const output = found?.Outputs?.find(({ OutputKey }) => OutputKey === 'Release')?.OutputValue;
    const [release, names = ''] = output?.split(' ') ?? [];
    const at = (found?.LastUpdatedTime ?? found?.CreationTime)?.getTime() ?? 0;
    const failed = found?.StackStatus?.includes('ROLLBACK') === true; // its time is that of the attempt, its output of the release before
    return release === undefined ? [] : [{ release, names: names.split(','), at, failed }];
  });
  const [latest] = ended.filter(({ failed }) => !failed).sort((one, other) => other.at - one.at);
  return new Set(ended.filter(({ release }) => release === latest?.release).flatMap(({ names }) => names));
}
