import { Aws, Fn, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route, RouteTable, ThrottleClass } from '../../lambdas/platform/route-table.ts';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import { limitsOf } from '../throttling.ts';
import type { NodeFunction } from './node-function.ts';

export interface HttpEndpointProps {
  readonly configuration: StageConfiguration;
  /** The area of the endpoint. The names of its API and access logs contain the area. */
  readonly area: string;
  /** The custom domain. @default - API Gateway's own host */
  readonly domain?: StageConfiguration['authDomain'];
}

/**
 * An HTTP API without routes or a stage. The stacks with functions add their routes, and one of these stacks adds the `$default` stage.
 * Two stacks can therefore use each other's URL without depending on each other.
 */
export class HttpEndpoint extends Construct {
  readonly api: apigateway.HttpApi;
  /** The URL of the API without a trailing slash. The host is the custom domain, or API Gateway's own host if there is none. */
  readonly url: string;
  /** The custom domain, if any, and API Gateway's own host. */
  readonly hosts: readonly string[];
  /** The log group for access logs. API Gateway writes one line for each request. */
  readonly accessLogs: logs.LogGroup;
  readonly customDomain: apigateway.DomainName | undefined;
  readonly #configuration: StageConfiguration;
  readonly #routes: { readonly route: apigateway.HttpRoute; readonly key: string; readonly throttle: ThrottleClass }[] =
    [];

  constructor(scope: Construct, id: string, props: HttpEndpointProps) {
    super(scope, id);
    const { configuration, area, domain } = props;
    this.#configuration = configuration;
    const { logRetention: retention, removalPolicy } = retentionOf(configuration);
    this.accessLogs = new logs.LogGroup(this, 'AccessLogs', {
      logGroupName: deliveredLogsName(`emissor/${configuration.stage}/${area}`),
      retention,
      removalPolicy,
    });
    this.customDomain =
      domain &&
      new apigateway.DomainName(this, 'Domain', {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      });
    this.api = new apigateway.HttpApi(this, 'Api', {
      apiName: `Emissor ${configuration.stage} ${area}`,
      createDefaultStage: false,
    });
    const { apiEndpoint } = this.api;
    this.url = domain ? `https://${domain.name}` : apiEndpoint;
    this.hosts = [...(domain ? [domain.name] : []), Fn.select(2, Fn.split('/', apiEndpoint))];
  }

  /**
   * Routes all methods of each path in a table to a function. The function returns 405 for unsupported methods. The routes belong to
   * `scope`, because the function's stack depends on the endpoint's stack.
   */
  addRoutes<Table extends RouteTable>(
    scope: Construct,
    table: Table,
    functionOf: (name: keyof Table & string) => NodeFunction,
  ): void {
    for (const [name, route] of Object.entries(table)) this.#addRoute(scope, `${name}Route`, route, functionOf(name));
  }

  /**
   * Adds the `$default` stage and the mapping of the custom domain. `scope` must be the stack of the existing routes. Each route has its
   * own token bucket
   * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html).
   *
   * Existing routes in other throttle classes get settings, so do not remove these routes. API Gateway rejects updates to a stage with
   * settings for a missing route, and CloudFormation does not remove settings (docs/runbook.md, "A route with settings was removed").
   *
   * @param throttle - the throttle class of all other routes, including routes that later stacks add.
   */
  addStage(scope: Construct, throttle: ThrottleClass): void {
    const settingsOf = (of: ThrottleClass) => {
      const { rateLimit, burstLimit } = limitsOf(this.#configuration, of);
      return { ThrottlingRateLimit: rateLimit, ThrottlingBurstLimit: burstLimit };
    };
    const stage = new apigateway.HttpStage(scope, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: limitsOf(this.#configuration, throttle),
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(this.accessLogs),
        format: accessLogFormat,
      },
      ...(this.customDomain ? { domainMapping: { domainName: this.customDomain } } : {}),
    });
    const others = this.#routes.filter(added => added.throttle !== throttle);
    const settings = others.map(({ key, throttle: own }) => [key, settingsOf(own)]);
    (stage.node.defaultChild as apigateway.CfnStage).routeSettings = Object.fromEntries(settings);
    stage.node.addDependency(...others.map(({ route }) => route));
  }

  /** Routes requests that match no other route to a function. */
  addDefaultRoute(scope: Construct, other: NodeFunction): void {
    this.#addRoute(scope, 'OtherRoute', { path: '$default', throttle: 'public' }, other);
  }

  #addRoute(
    scope: Construct,
    id: string,
    { path, throttle }: Pick<Route, 'path' | 'throttle'>,
    { live }: NodeFunction,
  ): void {
    const key =
      path === '$default'
        ? apigateway.HttpRouteKey.DEFAULT
        : apigateway.HttpRouteKey.with(path, apigateway.HttpMethod.ANY);
    const route = new apigateway.HttpRoute(scope, id, {
      httpApi: this.api,
      routeKey: key,
      integration: new HttpLambdaIntegration(`${id}Integration`, live),
    });
    Validations.of(route).acknowledge({
      id: 'AwsSolutions::AwsSolutions-APIG4',
      reason: 'The function authenticates callers. The built-in authorizer supports neither ES256 nor revocation.',
    });
    this.#routes.push({ route, key: key.key, throttle });
  }
}

/**
 * Returns the name of a log group that an AWS service delivers to. Without the prefix `/aws/vendedlogs/`, the group would need an entry in
 * the account's resource policy, which has a limit of 5,120 characters
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html). The suffix from the stack's id avoids a
 * conflict with the log group that a deleted stack of the same stage retained.
 */
function deliveredLogsName(name: string): string {
  const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `/aws/vendedlogs/${name}-${Fn.select(0, Fn.split('-', stackUuid))}`;
}

/** The format of access logs. It omits query strings and headers, because they may contain secrets. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    host: '$context.domainName',
    time: '$context.requestTime',
    sourceIp: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    path: '$context.path',
    route: '$context.routeKey',
    status: '$context.status',
    responseLength: '$context.responseLength',
    integrationStatus: '$context.integrationStatus',
    latency: '$context.responseLatency',
    error: '$context.error.message',
    integrationError: '$context.integrationErrorMessage',
  }),
);
