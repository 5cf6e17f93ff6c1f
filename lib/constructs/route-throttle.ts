import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import type { HttpApi, HttpRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, type AwsSdkCall, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import type { Construct } from 'constructs';
import type { Route } from '../../lambdas/platform/route-table.ts';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import { limitsOf } from '../throttling.ts';

export interface RouteThrottleProps {
  readonly configuration: StageConfiguration;
  readonly api: HttpApi;
  readonly route: HttpRoute;
  readonly routeKey: string;
  readonly throttle: Route['throttle'];
}

/**
 * The throttle of a route: a token bucket of its own, whatever the other routes take
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html).
 *
 * The settings of routes are properties of the API's stage, which is in the stack before: it cannot name them, because API Gateway
 * refuses to update a stage with settings of a route that does not exist ("Unable to find Route by key"), and from then on every
 * update, while settings are left of one that no longer does. So each route brings its settings with it: made after all routes of
 * its stack, one after another, since they change one stage; undone before the route is, also when a deployment fails.
 */
export class RouteThrottle extends AwsCustomResource {
  constructor(scope: Construct, id: string, { configuration, api, route, routeKey, throttle }: RouteThrottleProps) {
    const { rateLimit, burstLimit } = limitsOf(configuration, throttle);
    const stage = { ApiId: api.apiId, StageName: '$default' };
    const settings = { ThrottlingRateLimit: rateLimit, ThrottlingBurstLimit: burstLimit };
    const set: AwsSdkCall = {
      service: 'ApiGatewayV2',
      action: 'updateStage', // it merges: the settings of other routes stay
      parameters: { ...stage, RouteSettings: { [routeKey]: settings } },
      physicalResourceId: PhysicalResourceId.of(`${api.apiId} ${routeKey}`),
      outputPaths: [], // the answer, the whole stage, may be longer than the 4 KiB that CloudFormation takes
    };
    super(scope, id, {
      resourceType: 'Custom::RouteThrottle',
      serviceTimeout: Duration.minutes(5), // or CloudFormation waits an hour for a function that does not answer
      onCreate: set,
      onUpdate: set,
      onDelete: {
        service: 'ApiGatewayV2',
        action: 'deleteRouteSettings',
        parameters: { ...stage, RouteKey: routeKey },
        ignoreErrorCodesMatching: 'NotFoundException',
      },
      ...shared(scope, configuration, api),
    });
    const earlier = scope.node.children.filter(child => child instanceof RouteThrottle && child !== this);
    this.node.addDependency(route, ...earlier.slice(-1));
    for (const first of earlier.slice(0, 1)) first.node.addDependency(route);
  }
}

/** Returns what the throttles of a stack share: role and log group of the CDK's function that makes their calls. They are of one API. */
function shared(scope: Construct, configuration: StageConfiguration, api: HttpApi) {
  const stack = Stack.of(scope);
  const known = stack.node.tryFindChild('RouteThrottleRole');
  if (known) return { role: known as iam.Role, installLatestAwsSdk: false };
  const { logRetention: retention, removalPolicy } = retentionOf(configuration);
  const logGroup = new logs.LogGroup(stack, 'RouteThrottleLogs', { retention, removalPolicy });
  const statement = (actions: string[], resource: string) =>
    new iam.PolicyStatement({ actions, resources: [resource] });
  const stages = (partition: string, region: string, id: string) =>
    `arn:${partition}:apigateway:${region}::/apis/${id}/stages/*`;
  const role = new iam.Role(stack, 'RouteThrottleRole', {
    assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    inlinePolicies: {
      Throttles: new iam.PolicyDocument({
        statements: [
          statement(['apigateway:PATCH', 'apigateway:DELETE'], stages(Aws.PARTITION, Aws.REGION, api.apiId)),
          statement(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn),
        ],
      }),
    },
  });
  const { 'Fn::ImportValue': id } = stack.resolve(Stack.of(api).exportValue(api.apiId));
  Validations.of(role).acknowledge({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::${stages('<AWS::Partition>', '<AWS::Region>', id)}]`,
    reason: 'The API has one stage. AWS does not document how it writes that name and the keys of routes in an ARN.',
  });
  return { role, logGroup, installLatestAwsSdk: false };
}
