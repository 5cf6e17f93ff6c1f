import { type CfnResource, CustomResourceProviderBase, Duration, Stack } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import { InvocationType, Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import type { NodeFunction } from './node-function.ts';

/** The properties of a deployment trigger. */
export interface DeploymentTriggerProps {
  readonly configuration: StageConfiguration;
  /** Invoked without an event. */
  readonly handler: NodeFunction<Record<string, string>>;
}

/**
 * Invokes the new version of a function at each deployment that changes it, before its alias leads there. When it fails, the
 * deployment fails and is undone, and nothing was routed to that version.
 */
export class DeploymentTrigger extends Trigger {
  constructor(scope: Construct, id: string, { configuration, handler }: DeploymentTriggerProps) {
    super(scope, id, {
      handler,
      timeout: Duration.minutes(2),
      invocationType: InvocationType.REQUEST_RESPONSE,
    });
    this.executeBefore(handler.live);
    keepProviderLogs(Stack.of(this), configuration);
  }
}

/**
 * The function of the CDK that invokes the handler would write to a log group that Lambda makes, which nobody deletes and whose
 * lines never expire. It gets one of the stack, and may write to that only.
 */
function keepProviderLogs(stack: Stack, configuration: StageConfiguration): void {
  const provider = stack.node.children.find(child => child instanceof CustomResourceProviderBase);
  if (!provider || stack.node.tryFindChild('TriggerLogs')) return;
  const { logRetention: retention, removalPolicy } = retentionOf(configuration);
  const logGroup = new logs.LogGroup(stack, 'TriggerLogs', { retention, removalPolicy });
  const part = (id: string) => provider.node.findChild(id) as CfnResource;
  part('Handler').addPropertyOverride('LoggingConfig', { LogGroup: logGroup.logGroupName });
  part('Role').addPropertyDeletionOverride('ManagedPolicyArns');
  provider.addToRolePolicy({
    Effect: 'Allow',
    Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    Resource: logGroup.logGroupArn,
  });
}
