import { type CfnResource, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import type { NodeFunction } from './node-function.ts';

/**
 * Invokes a function only on the first deployment of its stage. A trigger for each new version would also invoke an earlier version when
 * the stack rolls back. A failure of that version would block the stack (ADR 17).
 */
export class FirstRun extends Trigger {
  constructor(
    scope: Construct,
    id: string,
    { configuration, handler }: { readonly configuration: StageConfiguration; readonly handler: NodeFunction },
  ) {
    super(scope, id, { handler, executeOnHandlerChange: false });
    const { logRetention: retention, removalPolicy } = retentionOf(configuration);
    const logGroup = new LogGroup(this, 'Logs', { retention, removalPolicy });
    // By default, the CDK's provider writes to a log group that Lambda creates and no stack deletes.
    const provider = Stack.of(this).node.findChild('AWSCDK.TriggerCustomResourceProviderCustomResourceProvider');
    const resource = provider.node.findChild('Handler') as CfnResource;
    resource.addPropertyOverride('LoggingConfig', { LogGroup: logGroup.logGroupName });
  }
}
