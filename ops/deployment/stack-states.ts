import { CliError } from '../stage/operator.ts';
import { type DeployedStack, isLeftOver, type StageStacks, stackNameOf } from '../stage/stage-stacks.ts';

/**
 * Returns advice on a stack that is left over, changing or in a failed state. Returns `undefined` for other stacks.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
export function adviceOn(
  stack: DeployedStack,
  { configuration, region }: Pick<StageStacks, 'configuration' | 'region'>,
): string | undefined {
  const { stackName, found } = stack;
  const { stage } = configuration;
  const state = found?.StackStatus;
  if (!found || !state) return undefined;
  const cloudFormation = (command: string) =>
    `aws cloudformation ${command} --region ${region} --stack-name ${stackName}`;
  const rollBack = `npx cdk rollback ${stackName} -c stage=${stage}`;
  const subject = `stack ${stackName} is in state ${state}`;
  const unprotect = cloudFormation('update-termination-protection --no-enable-termination-protection');

  if (isLeftOver(stack, configuration) && state !== 'DELETE_FAILED' && !isChanging(stack)) {
    const commands = [...(found.EnableTerminationProtection ? [unprotect] : []), cloudFormation('delete-stack')];
    return `stack ${stackName} is left over: stages/${stage}.ts no longer defines it, and a deployment does not delete it. "npx cdk destroy --all" would fail at ${stackNameOf(stage, 'Data')}, because ${stackName} imports its key. Run: ${commands.join(', then: ')}`;
  }
  if (settledStates.includes(state)) return undefined;

  if (state === 'UPDATE_ROLLBACK_COMPLETE') {
    return `${subject}: its last deployment failed and was rolled back. To see the cause, run: ${cloudFormation('describe-stack-events')}`;
  }
  if (state === 'ROLLBACK_COMPLETE' || state === 'ROLLBACK_FAILED') {
    const failed = `${subject}: its first deployment failed ("${cloudFormation('describe-stack-events')}" shows the cause)`;
    return found.EnableTerminationProtection
      ? // The command affects only this stack. A change to the stage's file would affect all stacks.
        `${failed}, and the next deployment cannot replace it, because it is protected. To let the next deployment delete it and create it again, run: ${unprotect}`
      : `${failed}. The next deployment deletes it and creates it again.`;
  }
  if (state === 'UPDATE_ROLLBACK_FAILED' || state === 'UPDATE_FAILED' || state === 'CREATE_FAILED') {
    return `${subject}: the deployment did not complete. Correct the problem that "${cloudFormation('describe-stack-events')}" shows, then run: ${rollBack}`;
  }
  if (state === 'DELETE_FAILED') {
    return `${subject}: CloudFormation could not delete one of its resources. Correct the problem that "${cloudFormation('describe-stack-events')}" shows, then run: ${cloudFormation('delete-stack')}`;
  }
  if (state === 'REVIEW_IN_PROGRESS') {
    return `${subject}: it was prepared but not created. The next deployment creates it.`;
  }
  return `${subject}: a deployment is in progress. Wait until it has ended.`;
}

/**
 * Rejects a rollback during a deployment, because the deployment would move the aliases again.
 * @throws {CliError} with the commands that end the deployment or wait for its end.
 */
export function requireNoDeployment({ stacks, region }: Pick<StageStacks, 'stacks' | 'region'>): void {
  const changing = stacks.find(isChanging);
  if (!changing?.found) return;
  const { stackName, found } = changing;
  const state = found.StackStatus ?? '';
  const options = `--region ${region} --stack-name ${stackName}`;
  const waitFor = (change: string) => `"aws cloudformation wait stack-${change}-complete ${options}"`;
  const end =
    state === 'UPDATE_IN_PROGRESS'
      ? `To stop it and roll it back, run "aws cloudformation cancel-update-stack ${options}", then ${waitFor('rollback')}. Otherwise, wait`
      : 'Wait';
  const isFirst = state === 'ROLLBACK_IN_PROGRESS'; // no waiter can succeed in this state
  const [change = ''] = state.startsWith('UPDATE_ROLLBACK') ? ['rollback'] : state.toLowerCase().split('_');
  const until = isFirst ? `${waitFor('create')}, which then exits with 255` : waitFor(change);
  throw new CliError(
    `A deployment is in progress: stack ${stackName} is in state ${state}. ${end} until it has ended (run ${until}), then run this command again.`,
  );
}

/** Returns whether CloudFormation is changing a stack. */
export function isChanging({ found }: DeployedStack): boolean {
  const state = found?.StackStatus ?? '';
  return state.endsWith('_IN_PROGRESS') && state !== 'REVIEW_IN_PROGRESS';
}

/** Returns whether the state of a stack blocks a deployment. The CDK deletes a failed new stack, unless it is protected. */
export function blocksDeployment(stack: DeployedStack): boolean {
  const { StackStatus = '', EnableTerminationProtection } = stack.found ?? {};
  if (isChanging(stack) || StackStatus === 'DELETE_FAILED') return true;
  if (['UPDATE_ROLLBACK_FAILED', 'UPDATE_FAILED', 'CREATE_FAILED'].includes(StackStatus)) return true;
  return ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'].includes(StackStatus) && EnableTerminationProtection === true;
}

/** Returns whether a stack was ever deployed. After a failed first deployment, a stack is empty. */
export function isDeployed({ found }: DeployedStack): boolean {
  return found !== undefined && !neverCreated.includes(found.StackStatus ?? '');
}

const settledStates = ['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'IMPORT_COMPLETE', 'IMPORT_ROLLBACK_COMPLETE'];

const neverCreated = [
  'REVIEW_IN_PROGRESS',
  'CREATE_IN_PROGRESS',
  'CREATE_FAILED',
  'ROLLBACK_IN_PROGRESS',
  'ROLLBACK_COMPLETE',
  'ROLLBACK_FAILED',
];
