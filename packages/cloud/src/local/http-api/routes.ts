import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import { readThrottles, type ThrottleSettings } from './throttle.ts';

export interface ApiDefinition {
  readonly apiId: string;
  readonly routes: readonly RouteDefinition[];
}

/** A route of the template: which function it leads to, how long that may take, and how many requests may come. */
interface RouteDefinition {
  readonly routeKey: string;
  readonly functionName: string;
  readonly timeoutMilliseconds: number;
  readonly throttle: ThrottleSettings;
}

/** A route of an HTTP API and what it leads to. */
export interface Route<Target> {
  /** `GET /path/{parameter}`, `ANY /path/{proxy+}` or `$default`. */
  readonly routeKey: string;
  readonly target: Target;
}

export interface RouteMatch<Target> extends Route<Target> {
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the route of a request, by its method and its decoded path. */
export type FindRoute<Target> = (method: string, path: string) => RouteMatch<Target> | undefined;

/**
 * Reads the HTTP APIs of the template.
 *
 * @param identityOf - the ids by which resolved properties refer to APIs and integrations
 * @throws {StartError} for what the local cloud does not support.
 */
export function apisOf(
  resources: readonly LiveResource[],
  identityOf: (resource: LiveResource) => string,
): readonly ApiDefinition[] {
  const integrations = new Map(
    ofType(resources, 'AWS::ApiGatewayV2::Integration').map(resource => {
      const { IntegrationUri, TimeoutInMillis } = readProperties(integrationSchema, resource);
      const functionName = functionNameIn(IntegrationUri);
      if (!functionName) throw new StartError(`${resource.stack}/${resource.logicalId} leads to no function.`);
      return [`integrations/${identityOf(resource)}`, { functionName, timeoutMilliseconds: TimeoutInMillis }];
    }),
  );
  const throttleOf = readThrottles(resources);
  const routes = ofType(resources, 'AWS::ApiGatewayV2::Route').map(resource => {
    const { ApiId, RouteKey, Target } = readProperties(routeSchema, resource);
    const integration = integrations.get(Target);
    if (!integration) throw new StartError(`${resource.stack}/${resource.logicalId} has no integration.`);
    return { apiId: ApiId, routeKey: RouteKey, ...integration, throttle: throttleOf(ApiId, RouteKey) };
  });

  return ofType(resources, 'AWS::ApiGatewayV2::Api').map(resource => {
    readProperties(apiSchema, resource);
    const apiId = identityOf(resource);
    return { apiId, routes: routes.filter(route => route.apiId === apiId) };
  });
}

/** Makes the route table of an HTTP API; the most specific route is chosen, as API Gateway does. */
export function makeRouteTable<Target>(routes: readonly Route<Target>[]): FindRoute<Target> {
  const fallback = routes.find(({ routeKey }) => routeKey === '$default');
  const patterns = routes
    .filter(route => route !== fallback)
    .map(parse)
    .sort((one, other) => (one.rank < other.rank ? -1 : 1));

  return function routeTable(method, path) {
    const segments = path.split('/').slice(1);
    for (const pattern of patterns) {
      if (pattern.method !== 'ANY' && pattern.method !== method) continue;
      const pathParameters = matchSegments(pattern.segments, segments);
      if (pathParameters) return { ...pattern.route, pathParameters };
    }
    return fallback && { ...fallback, pathParameters: {} };
  };
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

const apiSchema = z.object({ ProtocolType: z.literal('HTTP') });

function parse<Target>(route: Route<Target>): Pattern<Target> {
  const [method = '', path = ''] = route.routeKey.split(' ');
  const segments = path.split('/').slice(1);
  return { route, method, segments, rank: rankOf(method, segments) };
}

function matchSegments(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const value = path[index];
    if (value === undefined) return undefined;
    if (isGreedy(segment)) {
      const rest = path.slice(index).join('/');
      return rest === '' ? undefined : { ...parameters, [segment.slice(1, -2)]: rest };
    }
    if (isParameter(segment) && value !== '') parameters[segment.slice(1, -1)] = value;
    else if (segment !== value) return undefined;
  }
  return path.length === pattern.length ? parameters : undefined;
}

interface Pattern<Target> {
  readonly route: Route<Target>;
  readonly method: string;
  readonly segments: readonly string[];
  /** One letter per segment and one for the method; what sorts first is more specific. */
  readonly rank: string;
}

/** Literal before parameter before greedy parameter, segment by segment; a named method before `ANY`. */
function rankOf(method: string, segments: readonly string[]): string {
  return (
    segments.map(segment => (isGreedy(segment) ? 'c' : isParameter(segment) ? 'b' : 'a')).join('') +
    (method === 'ANY' ? 'z' : 'y')
  );
}

function isGreedy(segment: string): boolean {
  return segment.endsWith('+}');
}

function isParameter(segment: string): boolean {
  return /^\{.+\}$/.test(segment);
}
