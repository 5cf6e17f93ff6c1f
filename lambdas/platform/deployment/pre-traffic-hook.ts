import type { Log } from '../log.ts';
import { describeError } from '../telemetry.ts';
import { type Waiting, withRetries } from './retry.ts';

/** The event that CodeDeploy passes to a hook. It contains neither the function nor its version. */
export interface HookEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

export interface Deployment {
  /** The initiator, such as `user` or `codeDeployRollback`. */
  readonly creator?: string | undefined;
  readonly deploymentGroupName?: string | undefined;
}

export interface HookEffects extends Waiting {
  readonly log: Pick<Log, 'info' | 'error'>;
  /** The ARN of each new version, by deployment group. */
  readonly versions: Readonly<Record<string, string>>;
  readonly getDeployment: (deploymentId: string) => Promise<Deployment>;
  /** Returns the CloudFormation status of the hook's stack. */
  readonly getStackStatus: () => Promise<string>;
  /** Invokes the self-check of a version. @throws {Error} with the error name that the version reported. */
  readonly checkVersion: (versionArn: string) => Promise<void>;
  readonly report: (event: HookEvent, status: 'Succeeded' | 'Failed') => Promise<unknown>;
}

/**
 * Creates the hook that CodeDeploy runs before a version receives traffic. The hook invokes the self-check of the version and always reports
 * a status, because CodeDeploy would otherwise wait for an hour.
 *
 * For a rollback by CodeDeploy or CloudFormation, the hook succeeds without a check. Otherwise, the cause of the failed deployment could
 * also block the rollback.
 *
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html
 */
export function makePreTrafficHook({
  log,
  versions,
  getDeployment,
  getStackStatus,
  checkVersion,
  report,
  ...waiting
}: HookEffects) {
  return async function runHook(event: HookEvent): Promise<void> {
    const status = (await isHealthy(event.DeploymentId)) ? 'Succeeded' : 'Failed';
    await withRetries(waiting, maxRetryTime, () => report(event, status));
  };

  async function isHealthy(deploymentId: string): Promise<boolean> {
    let version: string | undefined;
    try {
      const { creator = '', deploymentGroupName = '' } = await withRetries(waiting, maxRetryTime, () =>
        getDeployment(deploymentId),
      );
      const stackStatus = await withRetries(waiting, maxRetryTime, getStackStatus);
      if (creator === 'codeDeployRollback' || stackStatus.includes('ROLLBACK')) return true;
      version = versions[deploymentGroupName];
      if (version === undefined)
        throw new Error(`VERSIONS contains no version of deployment group ${deploymentGroupName}.`);
      const arn = version;
      await withRetries(waiting, maxRetryTime, () => checkVersion(arn));
      log.info('version.checked', { version });
      return true;
    } catch (error) {
      log.error('version.failed', { version, deploymentId, ...describeError(error) });
      return false;
    }
  }
}

/** The maximum time for each of the four calls, in milliseconds. The function's timeout exceeds the sum. */
const maxRetryTime = 180_000;
