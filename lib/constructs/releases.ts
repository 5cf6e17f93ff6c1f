import { Aws, type CfnResource, Duration, Fn, Lazy, Stack, Validations } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { HttpService } from '../../lambdas/platform/lambda-handler.ts';
import { releaseAlarms } from '../alarms.ts';
import { hasCustomers, type StageConfiguration } from '../config.ts';
import { Alarms, type AlarmTopics } from './alarms.ts';
import { NodeFunction } from './node-function.ts';

export interface ReleasesProps {
  readonly configuration: StageConfiguration;
  readonly topics: AlarmTopics;
  /** The functions behind the APIs, by the service name in their metrics. */
  readonly services?: { readonly [Service in HttpService]?: NodeFunction };
  readonly others?: readonly NodeFunction[];
}

/**
 * Releases the functions of a stack with CodeDeploy. A hook checks each new version before it receives traffic. On a stage with customers,
 * a new version behind an API receives 10% of the requests for 5 minutes, and CodeDeploy rolls it back if it fails. Other new versions
 * receive all traffic at once. If a deployment fails, CloudFormation rolls back the stack.
 *
 * The alarms watch only the new version, because failures of the earlier version must not stop the release that fixes them. No alarm
 * watches response times, because each process of a new version is slow at first.
 *
 * With `gradual: false`, CloudFormation updates the aliases itself. CodeDeploy expects the version of the last template, so it rejects
 * an alias that `ops rollback` changed.
 */
export class Releases extends Construct {
  constructor(scope: Construct, id: string, { configuration, topics, services = {}, others = [] }: ReleasesProps) {
    super(scope, id);
    if (!configuration.gradual) return;
    const application = new LambdaApplication(this, 'Application');
    const targets: (readonly [LambdaDeploymentGroup, NodeFunction])[] = [];
    const hook = this.#addHook(configuration, targets);
    const role = this.#addRole(hook);
    const add = (target: NodeFunction, alarms: readonly cloudwatch.Alarm[]) => {
      const group = new LambdaDeploymentGroup(this, target.node.id, {
        application,
        alias: target.live,
        role: role.withoutPolicyUpdates(), // prevents each group from adding the managed policy again
        deploymentConfig:
          alarms.length > 0 ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES : LambdaDeploymentConfig.ALL_AT_ONCE,
        alarms: [...alarms],
        autoRollback: { deploymentInAlarm: alarms.length > 0, failedDeployment: true, stoppedDeployment: true },
        preHook: hook,
      });
      allow(hook, group, target);
      targets.push([group, target]);
      // The alarms and the hook must refer to the new version before it receives traffic.
      target.live.node.addDependency(...alarms, hook, role);
    };
    for (const [service, target] of Object.entries(services)) {
      const rows = hasCustomers(configuration) ? releaseAlarms(configuration, service, target) : {};
      const { alarms } = new Alarms(this, `${target.node.id}Alarms`, { configuration, topics, rows });
      for (const alarm of alarms) replaceWithVersion(alarm, target);
      add(target, alarms);
    }
    for (const target of others) add(target, []);
  }

  /** Adds the hook. Its environment maps deployment groups to versions. */
  #addHook(
    configuration: StageConfiguration,
    targets: readonly (readonly [LambdaDeploymentGroup, NodeFunction])[],
  ): NodeFunction {
    const pairs = Lazy.list({
      produce: () =>
        targets.map(([group, target]) => Fn.join('=', [group.deploymentGroupName, target.currentVersion.functionArn])),
    });
    const hook = new NodeFunction(this, 'PreTraffic', {
      configuration,
      entry: 'lambdas/platform/deployment/pre-traffic.handler.ts',
      timeout: Duration.minutes(15), // the maximum, because the hook retries calls until IAM has propagated a permission
      memorySize: 256,
      tables: {},
      environment: { VERSIONS: Fn.join(',', pairs), STACK_ID: Aws.STACK_ID },
    });
    hook.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [Aws.STACK_ID] }),
    );
    return hook;
  }

  /** Adds CodeDeploy's role. Its managed policy allows it to invoke only functions named `CodeDeployHook_*`. */
  #addRole(hook: NodeFunction): iam.Role {
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('codedeploy.amazonaws.com') });
    role.addManagedPolicy(iam.ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited'));
    role.addToPolicy(new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [hook.functionArn] }));
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason:
        'AWS documents this policy for shifting traffic between versions, without a list of actions. Only CodeDeploy can assume the role.',
    });
    return role;
  }
}

/** Allows the hook to read a group's deployments and to invoke all versions of its function. Each deployment publishes a version. */
function allow(hook: NodeFunction, { deploymentGroupArn }: LambdaDeploymentGroup, { functionArn }: NodeFunction): void {
  hook.addToRolePolicy(
    new iam.PolicyStatement({ actions: ['codedeploy:GetDeployment'], resources: [deploymentGroupArn] }),
  );
  hook.addToRolePolicy(
    new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [`${functionArn}:*`] }),
  );
  const [logicalId] = Stack.of(hook).resolve(functionArn)['Fn::GetAtt'];
  Validations.of(hook.role ?? hook).acknowledge({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
    reason: 'The wildcard matches only the versions of one function.',
  });
}

/**
 * Replaces an alarm with each version. CloudWatch would keep the state of an updated alarm until the next evaluation. CodeDeploy does not
 * start a deployment while an alarm is active, so the alarm of a failing version would stop the release that fixes it
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html).
 */
function replaceWithVersion(alarm: cloudwatch.Alarm, { currentVersion }: NodeFunction): void {
  const stack = Stack.of(alarm);
  const resource = alarm.node.defaultChild as CfnResource;
  const { logicalId: versionId } = currentVersion.node.defaultChild as CfnResource;
  const id: string = stack.resolve(resource.logicalId);
  resource.overrideLogicalId(
    Lazy.uncachedString({ produce: () => `${id}${String(stack.resolve(versionId)).slice(-versionHashLength)}` }),
  );
}

/** The logical id of a version ends in a hash of the function. */
const versionHashLength = 32;
