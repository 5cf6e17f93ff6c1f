import * as z from 'zod';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';

/** Returns whether a request may pass now. A request that passes is counted. */
export type Throttle = () => boolean;

/** The throttling of a route: requests a second in the long run, and at once. */
export interface ThrottleSettings {
  readonly rate: number;
  readonly burst: number;
}

/** Makes the token bucket of API Gateway: it holds `burst` tokens and gains `rate` a second. */
export function makeThrottle({ rate, burst }: ThrottleSettings, now: () => number): Throttle {
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

/**
 * Reads what throttles each route of the template: its own settings, which a stage sets (`RouteSettings`) or a custom resource
 * (`Custom::RouteThrottle`); or else the stage's default, which holds for each route by itself.
 *
 * @param resources - in the order of their deployment
 */
export function readThrottles(
  resources: readonly LiveResource[],
): (apiId: string, routeKey: string) => ThrottleSettings {
  const stages = ofType(resources, 'AWS::ApiGatewayV2::Stage').map(resource => readProperties(stageSchema, resource));
  const updates = ofType(resources, 'Custom::RouteThrottle').map(resource => readProperties(updateSchema, resource));
  const own = new Map([
    ...stages.flatMap(({ ApiId, RouteSettings }) =>
      Object.entries(RouteSettings).map(([routeKey, settings]) => [`${ApiId} ${routeKey}`, settings] as const),
    ),
    ...updates.map(({ ApiId, RouteKey, ...settings }) => [`${ApiId} ${RouteKey}`, settings] as const),
  ]);

  return function throttleSettings(apiId, routeKey) {
    const stage = stages.find(({ ApiId }) => ApiId === apiId);
    return own.get(`${apiId} ${routeKey}`) ?? stage?.DefaultRouteSettings ?? accountLimits;
  };
}

/** API Gateway's own limits, where nothing else is set. */
const accountLimits: ThrottleSettings = { rate: 10_000, burst: 5_000 };

const settingsSchema = z
  .object({
    ThrottlingRateLimit: z.number().default(accountLimits.rate),
    ThrottlingBurstLimit: z.number().default(accountLimits.burst),
  })
  .transform(({ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }) => ({ rate, burst }));

const stageSchema = z.object({
  ApiId: z.string(),
  StageName: z.literal('$default'),
  DefaultRouteSettings: settingsSchema.optional(),
  RouteSettings: z.record(z.string(), settingsSchema).default({}),
});

const updateSchema = z
  .object({ ApiId: z.string(), RouteKey: z.string(), RateLimit: z.number(), BurstLimit: z.number() })
  .transform(({ RateLimit: rate, BurstLimit: burst, ...route }) => ({ ...route, rate, burst }));
