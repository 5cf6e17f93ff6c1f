import type { ThrottleClass } from '../lambdas/platform/route-table.ts';
import type { StageConfiguration } from './config.ts';
import { ConfigurationError } from './stage-files.ts';

/** The limits of one route: requests a second in the long run, and at once. */
export interface RouteLimits {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/** Returns the limits of each route of a class. */
export function limitsOf(configuration: StageConfiguration, throttle: ThrottleClass): RouteLimits {
  return {
    rateLimit: configuration[`${throttle}RateLimit`],
    burstLimit: configuration[`${throttle}BurstLimit`],
  };
}

/**
 * Checks that floods of all routes of a stage at the same time leave half of what an account may take where it may take least. The
 * stage `local` is no part of an account: its gateway is this machine's.
 *
 * @param classes - of every route of both APIs
 * @throws {ConfigurationError} that says what to lower.
 */
export function requireHalfOfAccount(configuration: StageConfiguration, classes: readonly ThrottleClass[]): void {
  if (configuration.stage === 'local') return;
  const problems = (['RateLimit', 'BurstLimit'] as const).flatMap(kind => {
    const parts = [...Map.groupBy(classes, name => name)].map(([name, { length: routes }]) => {
      const key = `${name}${kind}` as const;
      return { sum: routes * configuration[key], text: `${key} (${routes} × ${configuration[key]})` };
    });
    const sum = parts.reduce((total, part) => total + part.sum, 0);
    if (sum <= half[kind]) return [];
    const largestFirst = parts.toSorted((one, other) => other.sum - one.sum).map(({ text }) => text);
    return [`${sum} ${units[kind]} over all routes are more than ${half[kind]}: lower ${largestFirst.join(' or ')}`];
  });
  if (problems.length > 0) throw new ConfigurationError(`Stage ${configuration.stage}: ${problems.join('; ')}.`);
}

/**
 * Half of what API Gateway takes for all APIs of an account in the Regions where that is least: 2,500 requests a second and 1,250 at
 * once (https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html); the latter rounded down.
 */
const half = { RateLimit: 1_250, BurstLimit: 600 };

const units = { RateLimit: 'requests a second', BurstLimit: 'requests at once' };
