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
  /** The functions behind an API, by the service name in their metrics. */
  readonly services?: { readonly [Service in HttpService]?: NodeFunction };
  readonly others?: readonly NodeFunction[];
}

/**
 * Releases the functions of a stack with CodeDeploy. A hook checks each new version before it receives traffic. On a stage with customers,
 * a function behind an API receives a tenth of the requests for 5 minutes, and CodeDeploy rolls it back if it fails. All other
 * functions receive all traffic at once. If a deployment fails, CloudFormation rolls the stack back.
 *
 * The alarms watch only the new version, because failures of the earlier version must not stop the release that fixes them. Response times
 * are not watched, because each process of a new version is slow at first.
 *
 * With `gradual: false` CloudFormation moves the aliases itself. CodeDeploy starts from the version in the last template, so it rejects
 * an alias that `ops rollback` moved.
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
        role: role.withoutPolicyUpdates(), // otherwise each group would add the managed policy again
        deploymentConfig:
          alarms.length > 0 ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES : LambdaDeploymentConfig.ALL_AT_ONCE,
        alarms: [...alarms],
        autoRollback: { deploymentInAlarm: alarms.length > 0, failedDeployment: true, stoppedDeployment: true },
        preHook: hook,
      });
      allow(hook, group, target);
      targets.push([group, target]);
      // The alarms must watch the new version, and the hook must know it, before it receives traffic.
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
      timeout: Duration.minutes(15), // the longest: it repeats its calls while IAM spreads a permission
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
        'AWS documents this policy, and no list of actions, as what CodeDeploy needs to shift traffic between versions; only CodeDeploy can assume the role.',
    });
    return role;
  }
}

/** Allows the hook to read a group's deployments and to invoke all versions of its function, because each deployment publishes one. */
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
    reason: 'The versions of one function.',
  });
}

/**
 * Replaces an alarm with each version. An updated alarm stays in its state until it is evaluated again, and CodeDeploy
 * does not start while an alarm is active, so the alarm of a failing version would stop the release that fixes it
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
