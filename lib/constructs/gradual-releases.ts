import { type CfnResource, Lazy, Stack, Validations } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { HttpService } from '../../lambdas/platform/lambda-handler.ts';
import { releaseAlarms } from '../alarms.ts';
import type { StageConfiguration } from '../config.ts';
import { Alarms, type AlarmTopics } from './alarms.ts';
import type { NodeFunction } from './node-function.ts';
import { ReleaseStart } from './release-start.ts';

export interface GradualReleasesProps {
  readonly configuration: StageConfiguration;
  readonly topics: AlarmTopics;
  /** The functions by the name under which they count. */
  readonly services: { readonly [Service in HttpService]?: NodeFunction };
}

/**
 * Releases the functions behind an API, gradually where the stage asks for it: a new version gets a tenth of the requests for five minutes, and then all. If it
 * fails before, the alias leads to the earlier version again, the deployment fails, and CloudFormation undoes the stack's update.
 *
 * Each function is watched for failures of its new version only: those of the earlier version must not stop the release that
 * repairs them. Response times are not watched. A new version is slow at first, because each of its processes has to start, and
 * what is too slow times out, which is a failure.
 */
export class GradualReleases extends Construct {
  constructor(scope: Construct, id: string, { configuration, topics, services }: GradualReleasesProps) {
    super(scope, id);
    ReleaseStart.of(Stack.of(this), configuration).guard(Object.values(services));
    if (!configuration.gradual) return;
    const application = new LambdaApplication(this, 'Application');
    const role = this.#addRole();
    for (const [service, target] of Object.entries(services)) {
      const name = target.node.id;
      const { alarms } = new Alarms(this, `${name}Alarms`, {
        configuration,
        topics,
        rows: releaseAlarms(configuration, service, target),
      });
      new LambdaDeploymentGroup(this, name, {
        application,
        alias: target.live,
        role,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
        alarms: [...alarms],
        autoRollback: { deploymentInAlarm: true, failedDeployment: true, stoppedDeployment: true },
      });
      target.live.node.addDependency(...alarms); // they must watch the new version before it gets requests
      for (const alarm of alarms) makeAnewWithVersion(alarm, target);
    }
  }

  #addRole(): iam.IRole {
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('codedeploy.amazonaws.com') });
    role.addManagedPolicy(iam.ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited'));
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason:
        'AWS documents this policy, and no list of actions, as what CodeDeploy needs to shift traffic between versions; only CodeDeploy can assume the role.',
    });
    return role.withoutPolicyUpdates(); // each deployment group would add it again
  }
}

/**
 * Makes an alarm anew for each version. An alarm that is only changed keeps its state until it is evaluated again, and CodeDeploy
 * does not begin while an alarm rings: that of a failing version would stop the release that repairs it
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html).
 */
function makeAnewWithVersion(alarm: cloudwatch.Alarm, { currentVersion }: NodeFunction): void {
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
