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
  /** The area of the endpoint. Its API and its access logs are named after it. */
  readonly area: string;
  /** Custom domain. @default - API Gateway's own host */
  readonly domain?: StageConfiguration['authDomain'];
}

/**
 * An HTTP API without routes and stage. The stacks that own functions add their routes, and one of them adds the `$default`
 * stage. So two stacks can use each other's URL without depending on each other.
 */
export class HttpEndpoint extends Construct {
  readonly api: apigateway.HttpApi;
  /** `https://host` without a trailing slash. The host is the custom domain if there is one, otherwise API Gateway's own host. */
  readonly url: string;
  /** The host names of the API. */
  readonly hosts: readonly string[];
  /** The log group with one line for each request. */
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
   * Routes every method of each path of a table to a function, which returns 405 itself. The routes belong to `scope`, because the
   * function's stack depends on the endpoint's stack.
   */
  addRoutes<Table extends RouteTable>(
    scope: Construct,
    table: Table,
    functionOf: (name: keyof Table & string) => NodeFunction,
  ): void {
    for (const [name, route] of Object.entries(table)) this.#addRoute(scope, `${name}Route`, route, functionOf(name));
  }

  /**
   * Adds the `$default` stage, with the custom domain, to the stack of the routes added so far. Each route has its own token bucket
   * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html).
   *
   * Routes of another throttle class have settings, and must then remain. API Gateway rejects every update of a stage that has settings
   * of a missing route, and CloudFormation does not remove settings (docs/runbook.md, "A route with settings was removed").
   *
   * @param throttle - the class of all other routes, including those that later stacks add.
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

  /** Routes all other requests to a function. */
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
      reason: 'The function authenticates callers: the built-in authorizer knows RSA only and no revocation.',
    });
    this.#routes.push({ route, key: key.key, throttle });
  }
}

/**
 * Returns the name of a log group that an AWS service delivers to. The account's resource policy lists such groups in at most 5,120
 * characters, unless their names start with `/aws/vendedlogs/`
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html). A part of the stack's id
 * distinguishes it from a group that an earlier, deleted stack of the same stage left behind.
 */
function deliveredLogsName(name: string): string {
  const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `/aws/vendedlogs/${name}-${Fn.select(0, Fn.split('-', stackUuid))}`;
}

/** Each line has the caller, the request and the result. It omits query strings and headers, because they may contain secrets. */
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
