import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';

/** A route in the template. */
export interface Route {
  readonly apiId: string;
  /** The route key, such as `ANY /path/{parameter}` or `$default`. */
  readonly routeKey: string;
  readonly functionName: string;
  readonly throttle: ThrottleSettings;
}

/** The throttling of a route. The rate is in requests a second. */
interface ThrottleSettings {
  readonly rate: number;
  readonly burst: number;
}

/** Parses the routes in the template. @throws {StartError} if the local cloud does not support them */
export function routesOf(resources: readonly LiveResource[]): readonly Route[] {
  const functionNames = new Map(
    ofType(resources, 'AWS::ApiGatewayV2::Integration').map(resource => {
      const { IntegrationUri } = readProperties(integrationSchema, resource);
      return [`integrations/${resource.name}`, functionNameIn(IntegrationUri)];
    }),
  );
  const throttleOf = readThrottles(resources);
  return ofType(resources, 'AWS::ApiGatewayV2::Route').map(resource => {
    const { ApiId: apiId, RouteKey: routeKey, Target } = readProperties(routeSchema, resource);
    const functionName = functionNames.get(Target);
    if (!functionName) throw new StartError(`${resource.name} has no function.`);
    return { apiId, routeKey, functionName, throttle: throttleOf(apiId, routeKey) };
  });
}

/** Creates the route table of an HTTP API. Literal segments take precedence over parameters, and `$default` matches last. */
export function makeRouteTable<Target extends { readonly routeKey: string }>(routes: readonly Target[]) {
  const fallback = routes.find(({ routeKey }) => routeKey === '$default');
  const patterns = routes
    .filter(route => route !== fallback)
    .sort((one, other) => (one.routeKey < other.routeKey ? -1 : 1)) // `{` sorts after all letters
    .map(route => ({ route, pattern: patternOf(route.routeKey) }));
  return function findRoute(path: string): Target | undefined {
    return patterns.find(({ pattern }) => pattern.test(path))?.route ?? fallback;
  };
}

/** Creates a token bucket like API Gateway's. It holds up to `burst` tokens and gains `rate` tokens a second. A request takes one. */
export function makeThrottle({ rate, burst }: ThrottleSettings, now: () => number): () => boolean {
  let tokens = burst;
  let filledAt = now();
  return function throttle() {
    const moment = now();
    tokens = Math.min(burst, tokens + ((moment - filledAt) / 1000) * rate);
    filledAt = moment;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

function patternOf(routeKey: string): RegExp {
  const segments = routeKey.replace('ANY ', '').split('/');
  return new RegExp(`^${segments.map(one => (one.startsWith('{') ? '[^/]+' : RegExp.escape(one))).join('/')}$`);
}

/** Reads the throttle of each route. A route without settings has its own bucket with the stage's default settings. */
function readThrottles(resources: readonly LiveResource[]) {
  const stages = new Map(
    ofType(resources, 'AWS::ApiGatewayV2::Stage').map(resource => {
      const { ApiId, ...settings } = readProperties(stageSchema, resource);
      return [ApiId, settings];
    }),
  );
  return function throttleOf(apiId: string, routeKey: string): ThrottleSettings {
    const stage = stages.get(apiId);
    const settings = stage && (stage.RouteSettings[routeKey] ?? stage.DefaultRouteSettings);
    if (settings) return { rate: settings.ThrottlingRateLimit, burst: settings.ThrottlingBurstLimit };
    throw new StartError(`The HTTP API of the route "${routeKey}" has no stage.`);
  };
}

const integrationSchema = z.object({
  IntegrationType: z.literal('AWS_PROXY'),
  PayloadFormatVersion: z.literal('2.0'),
  IntegrationUri: z.string(),
});

const routeSchema = z.object({
  ApiId: z.string(),
  RouteKey: z
    .string()
    .regex(/^(ANY (\/([\w.-]+|\{\w+\}))+|\$default)$/, 'only $default and paths for any method are supported locally'),
  Target: z.string(),
  AuthorizationType: z.literal('NONE').default('NONE'),
});

const settingsSchema = z.object({ ThrottlingRateLimit: z.number(), ThrottlingBurstLimit: z.number() });

const stageSchema = z.object({
  ApiId: z.string(),
  StageName: z.literal('$default'),
  DefaultRouteSettings: settingsSchema,
  RouteSettings: z.record(z.string(), settingsSchema).default({}),
});
