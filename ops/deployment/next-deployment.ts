import type { StageStacks } from '../stage/stage-stacks.ts';

/**
 * Returns the command for the deployment after `ops rollback`. `gradual=false` is necessary, because CodeDeploy starts from the version in
 * the last template and rejects a moved alias. The release has a number, because CloudFormation redeploys a commit only with a new label.
 */
export function nextDeployment({ configuration, stacks }: Pick<StageStacks, 'configuration' | 'stacks'>): string {
  const releases = stacks.flatMap(
    ({ found }) => found?.Outputs?.filter(({ OutputKey }) => OutputKey === 'Release') ?? [],
  );
  const numbers = releases.map(({ OutputValue = '' }) => Number(/-n(\d+)$/.exec(OutputValue)?.[1] ?? 0));
  const number = Math.max(0, ...numbers) + 1;
  return `npx cdk deploy --all -c stage=${configuration.stage} -c gradual=false -c release=${number}`;
}
