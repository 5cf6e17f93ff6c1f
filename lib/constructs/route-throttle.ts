import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import type { HttpApi, HttpRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import { Construct } from 'constructs';
import type { Route } from '../../lambdas/platform/route-table.ts';
import type { StageConfiguration } from '../config.ts';
import { limitsOf } from '../throttling.ts';
import { throttleProvider } from './deployment-function.ts';

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
export class RouteThrottle extends Construct {
  constructor(scope: Construct, id: string, { configuration, api, route, routeKey, throttle }: RouteThrottleProps) {
    super(scope, id);
    const { rateLimit, burstLimit } = limitsOf(configuration, throttle);
    new CustomResource(this, 'Resource', {
      resourceType: 'Custom::RouteThrottle',
      serviceToken: throttleProvider(Stack.of(scope), configuration, api).serviceToken,
      serviceTimeout: Duration.minutes(5), // or CloudFormation waits an hour for a function that does not answer
      properties: { ApiId: api.apiId, RouteKey: routeKey, RateLimit: rateLimit, BurstLimit: burstLimit },
    });
    const earlier = scope.node.children.filter(child => child instanceof RouteThrottle && child !== this);
    this.node.addDependency(route, ...earlier.slice(-1));
    for (const first of earlier.slice(0, 1)) first.node.addDependency(route);
  }
}
