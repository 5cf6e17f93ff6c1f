import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { triggerProvider } from './deployment-function.ts';
import type { NodeFunction } from './node-function.ts';
import { ReleaseStart } from './release-start.ts';

export interface DeploymentTriggerProps {
  readonly configuration: StageConfiguration;
  /** Invoked without an event. */
  readonly handler: NodeFunction;
}

/**
 * Invokes the new version of a function at each deployment that changes it, before any alias of its stack moves. When it fails, the
 * deployment fails and is undone, and nothing was routed to a new version.
 *
 * It is no `Trigger` of the CDK: the function of that one invokes the version before, too, when the stack rolls back, and where that
 * fails, the stack is stuck in `UPDATE_ROLLBACK_FAILED`. Ours asks CloudFormation first.
 */
export class DeploymentTrigger extends Construct {
  constructor(scope: Construct, id: string, { configuration, handler }: DeploymentTriggerProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const provider = triggerProvider(stack, configuration);
    provider.addToRolePolicy({
      Effect: 'Allow',
      Action: ['lambda:InvokeFunction'],
      Resource: [`${handler.functionArn}:*`],
    });
    new CustomResource(this, 'Invocation', {
      resourceType: 'Custom::Trigger',
      serviceToken: provider.serviceToken,
      serviceTimeout: Duration.minutes(12), // or CloudFormation waits an hour for a function that does not answer
      properties: {
        HandlerArn: handler.currentVersion.functionArn,
        Stage: configuration.stage,
        IsRolledBack: ReleaseStart.of(stack, configuration).isRolledBackAt(handler),
      },
    });
  }
}
