import { CfnOutput, CustomResource, Duration, type Stack } from 'aws-cdk-lib';
import type { StageConfiguration } from '../config.ts';
import { triggerProvider } from './deployment-function.ts';
import { DeploymentTrigger } from './deployment-trigger.ts';
import { NodeFunction } from './node-function.ts';

/**
 * Ends each deployment that published a version of any function of the stage, in one of its stacks. The stack's output `Release` then
 * tells the release and which functions of the stack got a version by it: `ops rollback` takes these back. Of old versions the newest
 * three stay, and what an alias leads to. CloudFormation deletes none itself, so that there is one to go back to.
 *
 * @param release - changes with any function of the stage.
 */
export function endRelease(stack: Stack, configuration: StageConfiguration, release: string): void {
  const functions = stack.node.findAll().filter(child => child instanceof NodeFunction);
  if (functions.length === 0) return;
  const provider = triggerProvider(stack, configuration);
  provider.addToRolePolicy({
    Effect: 'Allow',
    Action: ['lambda:ListAliases', 'lambda:ListVersionsByFunction'],
    Resource: functions.map(({ functionArn }) => functionArn),
  });
  provider.addToRolePolicy({
    Effect: 'Allow',
    Action: ['lambda:DeleteFunction'],
    Resource: functions.map(({ functionArn }) => `${functionArn}:*`), // a version, never the function: its ARN has no qualifier
  });
  const resource = new CustomResource(stack, 'ReleaseEnd', {
    resourceType: 'Custom::ReleaseEnd',
    serviceToken: provider.serviceToken,
    serviceTimeout: Duration.minutes(12), // or CloudFormation waits an hour for a function that does not answer
    properties: { Release: release, Versions: functions.map(({ currentVersion }) => currentVersion.functionArn) },
  });
  // While a trial may fail, no alias moves: CloudFormation would lead it back to a version that was taken back.
  const trials = stack.node.findAll().filter(child => child instanceof DeploymentTrigger);
  for (const { live } of functions) live.node.addDependency(...trials);
  resource.node.addDependency(...functions.map(({ live }) => live));
  new CfnOutput(stack, 'Release', { value: resource.getAttString('Release') });
}
