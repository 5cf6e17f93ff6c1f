import type { ThrottleClass } from '../lambdas/platform/route-table.ts';
import type { StageConfiguration } from './config.ts';

/** The limits of a route. The rate is in requests a second. */
export interface RouteLimits {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/** Returns the limits that apply to each route of a class. A local run has no account quota, so its limits are very high. */
export function limitsOf({ stage }: Pick<StageConfiguration, 'stage'>, throttle: ThrottleClass): RouteLimits {
  return stage === 'local' ? { rateLimit: 10_000, burstLimit: 5_000 } : limits[throttle];
}

/** The sum of all routes' limits is at most half of the lowest regional account quota. An infrastructure test checks the sum. */
const limits: Readonly<Record<ThrottleClass, RouteLimits>> = {
  token: { rateLimit: 300, burstLimit: 150 },
  auth: { rateLimit: 100, burstLimit: 40 },
  management: { rateLimit: 50, burstLimit: 25 },
  public: { rateLimit: 20, burstLimit: 15 },
};
