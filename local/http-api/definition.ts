import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import type { ThrottleSettings } from './gateway.ts';

/** An HTTP API of the template. */
export interface ApiDefinition {
  readonly apiId: string;
  readonly throttle: ThrottleSettings;
  readonly routes: readonly RouteDefinition[];
}

/** What tells the ids of APIs and integrations in the resolved properties of others. */
export type IdentityOf = (resource: LiveResource) => string;

/**
 * Reads the HTTP APIs of the template.
 *
 * @throws {StartError} for anything that API Gateway knows and the local cloud does not.
 */
export function apisOf(resources: readonly LiveResource[], identityOf: IdentityOf): readonly ApiDefinition[] {
  const integrations = new Map(
    ofType(resources, 'AWS::ApiGatewayV2::Integration').map(resource => {
      const { IntegrationUri, TimeoutInMillis } = readProperties(integrationSchema, resource);
      const functionName = functionNameIn(IntegrationUri);
      if (!functionName) throw new StartError(`${resource.stack}/${resource.logicalId} leads to no function.`);
      return [`integrations/${identityOf(resource)}`, { functionName, timeoutMilliseconds: TimeoutInMillis }];
    }),
  );
  const routes = ofType(resources, 'AWS::ApiGatewayV2::Route').map(resource => {
    const { ApiId, RouteKey, Target } = readProperties(routeSchema, resource);
    const integration = integrations.get(Target);
    if (!integration) throw new StartError(`${resource.stack}/${resource.logicalId} has no integration.`);
    return { apiId: ApiId, routeKey: RouteKey, ...integration };
  });
  const stages = ofType(resources, 'AWS::ApiGatewayV2::Stage').map(resource => readProperties(stageSchema, resource));

  return ofType(resources, 'AWS::ApiGatewayV2::Api').map(resource => {
    readProperties(apiSchema, resource);
    const apiId = identityOf(resource);
    const settings = stages.find(stage => stage.ApiId === apiId)?.DefaultRouteSettings ?? unthrottled;
    return {
      apiId,
      throttle: { rate: settings.ThrottlingRateLimit, burst: settings.ThrottlingBurstLimit },
      routes: routes.filter(route => route.apiId === apiId),
    };
  });
}

/** A route of the template: which function it leads to, and how long that may take. */
interface RouteDefinition {
  readonly routeKey: string;
  readonly functionName: string;
  readonly timeoutMilliseconds: number;
}

const integrationSchema = z.object({
  IntegrationType: z.literal('AWS_PROXY'),
  PayloadFormatVersion: z.literal('2.0'),
  IntegrationUri: z.string(),
  TimeoutInMillis: z.number().default(30_000),
});
const routeSchema = z.object({
  ApiId: z.string(),
  RouteKey: z.string(),
  Target: z.string().startsWith('integrations/'),
  AuthorizationType: z.literal('NONE').default('NONE'),
});

/** API Gateway's own limits, where a stage sets none. */
const unthrottled = { ThrottlingRateLimit: 10_000, ThrottlingBurstLimit: 5_000 };

const stageSchema = z.object({
  ApiId: z.string(),
  StageName: z.literal('$default'),
  DefaultRouteSettings: z
    .object({
      ThrottlingRateLimit: z.number().default(unthrottled.ThrottlingRateLimit),
      ThrottlingBurstLimit: z.number().default(unthrottled.ThrottlingBurstLimit),
    })
    .default(unthrottled),
});

const apiSchema = z.object({ ProtocolType: z.literal('HTTP') });
