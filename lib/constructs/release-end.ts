import { CfnOutput, CustomResource, Duration, type Stack, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { StageConfiguration } from '../config.ts';
import { triggerProvider } from './deployment-function.ts';
import { DeploymentTrigger } from './deployment-trigger.ts';
import { NodeFunction } from './node-function.ts';
import { ReleaseStart } from './release-start.ts';

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
  // A policy of its own: the role's names no function whose alias waits for the start of the release, which takes that role.
  const policy = new iam.Policy(stack, 'ReleaseEndPolicy', {
    roles: [iam.Role.fromRoleArn(stack, 'ReleaseEndRole', provider.roleArn)],
    statements: [
      new iam.PolicyStatement({
        actions: ['lambda:ListAliases', 'lambda:ListVersionsByFunction'],
        resources: functions.map(({ functionArn }) => functionArn),
      }),
      new iam.PolicyStatement({
        actions: ['lambda:DeleteFunction'],
        resources: functions.map(({ functionArn }) => `${functionArn}:*`), // a version, never the function: its ARN has no qualifier
      }),
    ],
  });
  for (const { functionArn } of functions) {
    const [logicalId] = stack.resolve(functionArn)['Fn::GetAtt'];
    Validations.of(policy).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
      reason: 'The versions of one function, which a deployment publishes and deletes.',
    });
  }
  const resource = new CustomResource(stack, 'ReleaseEnd', {
    resourceType: 'Custom::ReleaseEnd',
    serviceToken: provider.serviceToken,
    serviceTimeout: Duration.minutes(12), // or CloudFormation waits an hour for a function that does not answer
    properties: { Release: release, Versions: functions.map(({ currentVersion }) => currentVersion.functionArn) },
  });
  // While a trial may fail, or the start refuse, no alias moves: CloudFormation would lead it back to a version that was taken back.
  const before = stack.node
    .findAll()
    .filter(child => child instanceof DeploymentTrigger || child instanceof ReleaseStart);
  for (const { live } of functions) live.node.addDependency(...before);
  resource.node.addDependency(policy, ...functions.map(({ live }) => live));
  new CfnOutput(stack, 'Release', { value: resource.getAttString('Release') });
}
