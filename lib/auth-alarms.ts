import type { StageConfiguration } from './config.ts';
import { type AlarmRule, serviceCount } from './constructs/alarms.ts';
import type { NodeFunction } from './constructs/node-function.ts';

/** The resources that the alarms of auth watch. */
export interface WatchedAuth {
  readonly configuration: StageConfiguration;
  readonly token: NodeFunction<Record<string, string>>;
  readonly rotateKeys: NodeFunction<Record<string, string>>;
}

/** The alarms of auth by their ids. */
export function authAlarms({ configuration, token, rotateKeys }: WatchedAuth): Record<string, AlarmRule> {
  const count = (metricName: string) => serviceCount(configuration, 'token', metricName);
  return {
    TokenFailures: {
      description: 'The token endpoint answers 500: logins fail. Look at the token function’s log.',
      metric: count('ServerError'),
    },
    TokenUnavailable: {
      description:
        'The token endpoint answers 503 for ten minutes: DynamoDB or KMS fails. Look at the token function’s log.',
      metric: count('DependencyUnavailable'),
      periods: 2,
    },
    TokenCrashes: {
      description: 'The token function fails or times out.',
      metric: token.metricErrors(),
    },
    TokenThrottles: {
      description: 'Logins are throttled: the token function has reached its concurrency.',
      metric: token.metricThrottles(),
    },
    RefreshTokenReuse: {
      description: 'A refresh token was used twice and its session was ended: somebody else may have a copy.',
      metric: count('RefreshTokenReuse'),
    },
    InvalidGrantSurge: {
      description: 'Unusually many logins are refused: somebody guesses passwords, or a client repeats an old one.',
      metric: count('InvalidGrant'),
      above: configuration.invalidGrantSurge,
      periods: 2,
    },
    KeyRotationFailures: {
      description: 'Keys are not rotated. Tokens are still issued with the old ones; repair it within a day.',
      metric: rotateKeys.metricErrors(),
    },
  };
}
