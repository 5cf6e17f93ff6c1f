import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Lane } from '../lambdas/delivery/lane-routing.ts';
import type { DeliveryMetric } from '../lambdas/delivery/telemetry.ts';
import type { StageConfiguration } from './config.ts';
import type { AlarmRule } from './constructs/alarms.ts';
import type { NodeFunction } from './constructs/node-function.ts';
import type { QueueConsumer } from './constructs/queue-consumer.ts';
import type { DeadLetterQueue } from './constructs/work-queue.ts';
import { metricsNamespace } from './stage-props.ts';

/** Returns the alarms of auth. */
export function authAlarms(
  configuration: StageConfiguration,
  { token, rotateKeys }: { readonly token: AnyFunction; readonly rotateKeys: AnyFunction },
): AlarmRules {
  const count = (metricName: string) => serviceCount(configuration, 'token', metricName);
  return {
    RequestsFail: {
      description: '{auth_url} or {base_url} answers 500 or 503. Look at the saved queries “internal errors”.',
      metric: new cloudwatch.Metric({
        namespace: metricsNamespace(configuration),
        metricName: 'RequestFailed',
        dimensionsMap: { functions: 'http' },
        statistic: 'Sum',
        period: Duration.minutes(1),
      }),
      periods: 3,
      among: 15,
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
      threshold: configuration.invalidGrantSurge,
      periods: 2,
    },
    KeyRotationFailures: {
      description: 'Keys are not rotated. Tokens are still issued with the old ones; repair it within a day.',
      metric: rotateKeys.metricErrors(),
    },
  };
}

/** Returns the alarms of the webhooks API. */
export function webhooksAlarms(api: AnyFunction): AlarmRules {
  return {
    WebhooksApiCrashes: {
      description: 'The webhooks API fails or times out.',
      metric: api.metricErrors(),
    },
    WebhooksApiThrottles: {
      description: 'Requests to the webhooks API are throttled: its function has reached its concurrency.',
      metric: api.metricThrottles(),
    },
  };
}

/** Returns the alarms of delivery. */
export function deliveryAlarms(configuration: StageConfiguration, delivery: WatchedDelivery): AlarmRules {
  const { deadLetterQueue, sweep, deliveriesApi } = delivery;
  return {
    ...laneAlarms(configuration, 'first', delivery.consumers.first),
    ...laneAlarms(configuration, 'retry', delivery.consumers.retry),
    ...laneAlarms(configuration, 'slow', delivery.consumers.slow),
    DeadLetters: {
      description:
        'New messages that Emissor could not process. Their attribute `reason` says why: npm run ops -- dlq list.',
      metric: deadLetterQueue.metricNewMessages(),
      among: 5, // SQS may report a minute late; the alarm is over after five minutes without new ones
    },
    SweepStopped: {
      description: 'The sweeper has not run for five minutes: waits over 15 minutes end late.',
      metric: sweep.metricInvocations({ period: Duration.minutes(5) }),
      threshold: 1,
      comparison: 'below',
    },
    SweepCrashes: { description: 'The sweeper fails or times out.', metric: sweep.metricErrors() },
    DeliveriesApiCrashes: {
      description: 'The deliveries API fails or times out.',
      metric: deliveriesApi.metricErrors(),
    },
  };
}

/** Returns the alarms of one lane. */
function laneAlarms(
  configuration: StageConfiguration,
  lane: Lane,
  consumer: QueueConsumer<Record<string, string>>,
): AlarmRules {
  const name = consumer.node.id;
  const count = (metric: DeliveryMetric) => serviceCount(configuration, `deliver-${lane}`, metric);
  return {
    [`${name}Crashes`]: {
      description: `The function ${name} fails or times out: its messages come back after six times its timeout.`,
      metric: consumer.metricErrors(),
    },
    [`${name}Blocked`]: {
      description: 'A registered URL led to an address that is not public: an attack, or a receiver’s broken DNS.',
      metric: count('Blocked'),
    },
    [`${name}InternalErrors`]: {
      description: 'Attempts fail because of our own errors (KMS, DynamoDB, sockets): nothing is lost or delivered.',
      metric: count('InternalError'),
      threshold: toleratedErrors,
    },
    [`${name}Deferred`]: {
      description: 'Messages wait because their outcome cannot be stored: nothing is lost, and little is delivered.',
      metric: count('MessageDeferred'),
      threshold: toleratedErrors,
    },
    [`${name}Backlog`]: {
      ...backlog[lane],
      metric: consumer.queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1) }),
      periods: 5,
    },
  };
}

/** A few errors in five minutes pass by themselves. */
const toleratedErrors = 10;

/** The age that a message of each queue may reach, in seconds: longer than the longest delay that messages are sent with. */
const backlog: Readonly<Record<Lane, Pick<AlarmRule, 'threshold' | 'description'>>> = {
  first: { threshold: 60, description: 'Events wait for their first attempt for over a minute.' },
  retry: {
    threshold: 15 * 60 + 300,
    description: 'Retries wait five minutes longer than the longest delay of their queue: their consumer is too slow.',
  },
  slow: {
    threshold: 75 + 300,
    description:
      'Attempts at slow webhooks wait five minutes longer than the longest delay of their queue: their consumer is too slow.',
  },
};

/** Returns the alarm of the scheduled smoke test, which runs once in each interval. */
export function smokeAlarms(configuration: StageConfiguration, interval: Duration): AlarmRules {
  return {
    SmokeFailed: {
      description:
        'The scheduled smoke test failed, or did not run: smoke.failed in its log tells the step. Try npm run smoke.',
      metric: new cloudwatch.Metric({
        namespace: metricsNamespace(configuration),
        metricName: 'SmokePassed',
        dimensionsMap: { service: 'smoke-test' },
        statistic: 'Minimum',
        period: Duration.seconds(interval.toSeconds() * 2), // a test is in each, however late it begins
      }),
      threshold: 1,
      comparison: 'below',
    },
  };
}

/**
 * Returns the alarms of a function's new version. It fails by invocations that throw, run out of memory or time out, and by answers
 * with status 500, which are no errors to Lambda. Lambda tells versions apart while an alias leads to two of them.
 */
export function releaseAlarms(
  configuration: StageConfiguration,
  service: string,
  { node, live, functionName, currentVersion }: AnyFunction,
): AlarmRules {
  const sum = { statistic: 'Sum', period: Duration.minutes(1) };
  const { version } = currentVersion;
  const consequence = 'A release that is under way is taken back: look at the function’s log.';
  return {
    Crashes: {
      description: `The new version of ${node.id} fails or times out. ${consequence}`,
      metric: new cloudwatch.Metric({
        ...sum,
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: {
          FunctionName: functionName,
          Resource: `${functionName}:${live.aliasName}`,
          ExecutedVersion: version,
        },
      }),
    },
    ServerErrors: {
      description: `The new version of ${node.id} answers 500. ${consequence}`,
      metric: new cloudwatch.Metric({
        ...sum,
        namespace: metricsNamespace(configuration),
        metricName: 'ServerError',
        dimensionsMap: { service, version },
      }),
    },
  };
}

/** Alarms by their ids. */
type AlarmRules = Readonly<Record<string, AlarmRule>>;

type AnyFunction = NodeFunction<Record<string, string>>;

/** The resources that the alarms of delivery watch. */
interface WatchedDelivery {
  readonly consumers: Readonly<Record<Lane, QueueConsumer<Record<string, string>>>>;
  readonly deadLetterQueue: DeadLetterQueue;
  readonly sweep: AnyFunction;
  readonly deliveriesApi: AnyFunction;
}

/** Returns a count that functions write themselves, summed over five minutes; `service` is the name that they write it under. */
function serviceCount(configuration: StageConfiguration, service: string, metricName: string): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: metricsNamespace(configuration),
    metricName,
    dimensionsMap: { service },
    statistic: 'Sum',
    period: Duration.minutes(5),
  });
}
