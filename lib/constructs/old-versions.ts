import { CustomResource, Duration, type Stack } from 'aws-cdk-lib';
import type { StageConfiguration } from '../config.ts';
import { triggerProvider } from './deployment-trigger.ts';
import { NodeFunction } from './node-function.ts';

/**
 * Deletes old versions of a stack's functions at the end of each deployment that published one: the newest three stay, and what an
 * alias leads to. CloudFormation deletes none itself, so that there is one to go back to.
 */
export function deleteOldVersions(stack: Stack, configuration: StageConfiguration): void {
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
  const resource = new CustomResource(stack, 'OldVersions', {
    resourceType: 'Custom::OldVersions',
    serviceToken: provider.serviceToken,
    serviceTimeout: Duration.minutes(12), // or CloudFormation waits an hour for a function that does not answer
    properties: { Published: functions.map(({ currentVersion }) => currentVersion.functionArn) },
  });
  resource.node.addDependency(...functions.map(({ live }) => live));
}
