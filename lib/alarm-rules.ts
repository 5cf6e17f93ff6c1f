import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { AlarmRule } from './constructs/alarms.ts';

/*
 * The rules of the alarms, in CloudWatch's metric math. An alarm judges as many values as it names periods, the newest that are there:
 * where some are missing, also older ones. So `FILL` gives each period its value where that would make a difference. Of a series that has
 * no value at all nothing can be said: what a rule divides by is always there when there is something to divide.
 */

/** Returns the rule of what may pass by itself: it rings where any happened in three of the last fifteen minutes. */
export function persisting(count: cloudwatch.Metric): AlarmRule {
  return { metric: filled(count.with({ statistic: 'Sum', period: minute })), ...threeOfFifteen };
}

/** Returns the same rule for what is written only when it happens: it rings also where it happened 20 times within five minutes. */
export function persistingOrMany(count: cloudwatch.Metric): AlarmRule {
  const isMany = `IF((${lastFive('FILL(count, 0)')}) >= ${leastSamples}, 1, 0)`;
  const usingMetrics = { count: count.with({ statistic: 'Sum' }) };
  return { metric: math(`FILL(count, 0) + FILL(${isMany}, 0)`, usingMetrics), ...threeOfFifteen };
}

/**
 * Returns the rule of what a stranger causes as often as they like: it rings at once, and for the fifteen minutes after the last one, in
 * which no further one sends a mail.
 */
export function occurring(count: cloudwatch.Metric): AlarmRule {
  return { metric: filled(count.with({ statistic: 'Sum', period: minute })), among: 15 };
}

/** Returns the values of what is written only when it happens, and 0 for every other period. */
export function filled(count: cloudwatch.Metric): cloudwatch.IMetric {
  return math('FILL(count, 0)', { count }, count.period);
}

/**
 * Returns the rule of a share: it rings where in three of the last fifteen minutes over 5 % failed, or 4 and more that were over 0.2 %.
 * Strangers make a share small: what the gateway refuses and unknown paths are requests, too.
 */
export function persistingShareOrMany(failed: cloudwatch.Metric, all: cloudwatch.Metric): AlarmRule {
  const expression = `FILL(failed / all * IF(failed >= ${manyInAMinute}, ${leastShare / leastShareOfMany}, 1), 0)`;
  return { metric: math(expression, { failed, all }), threshold: leastShare, ...threeOfFifteen };
}

/**
 * Returns the rule of faults of our own: it rings where any happened in three of the last fifteen minutes, or over 5 % of at least
 * 20 attempts failed within five. The share holds in several windows of five minutes that overlap, so that one alarm counts both.
 */
export function ownFaults(faults: cloudwatch.Metric, attempts: cloudwatch.Metric): AlarmRule {
  const [failed, all] = [lastFive('FILL(faults, 0)'), lastFive('FILL(attempts, 0)')];
  const isLarge = `IF((${all}) >= ${leastSamples} AND (${failed}) > ${leastShare} * (${all}), 1, 0)`;
  return {
    metric: math(`FILL(faults, 0) + FILL(${isLarge}, 0)`, {
      faults: faults.with({ statistic: 'Sum' }),
      attempts: attempts.with({ statistic: 'SampleCount' }),
    }),
    ...threeOfFifteen,
  };
}

/** Returns the rule of a queue that nobody empties: messages lie there, and for fifteen minutes their number never falls. */
export function notFalling(visible: cloudwatch.Metric, inFlight: cloudwatch.Metric): AlarmRule {
  return {
    metric: math('IF(visible + inFlight > 0 AND FILL(DIFF(visible + inFlight), 0) >= 0, 1, 0)', { visible, inFlight }),
    periods: 15, // the first minute may have none before it to differ from
  };
}

/**
 * Returns the rule of messages that arrive on a queue where they should not: old ones do not hide a new one. A look at them hides them
 * for less than five minutes, of which the highest number counts. It rings for ten minutes.
 */
export function growing(visible: cloudwatch.Metric): AlarmRule {
  const highest = visible.with({ statistic: 'Maximum' });
  return { metric: math('DIFF(visible)', { visible: highest }, fiveMinutes), among: 2 };
}

/** Returns the rule of a wait whose 99th percentile, of at least 20 samples in five minutes, is longer than `most` milliseconds. */
export function longWaits(wait: cloudwatch.Metric, most: Duration): AlarmRule {
  const expression = `IF(samples >= ${leastSamples}, wait, 0)`;
  const usingMetrics = { wait: wait.with({ statistic: 'p99' }), samples: wait.with({ statistic: 'SampleCount' }) };
  return { metric: math(expression, usingMetrics, fiveMinutes), threshold: most.toMilliseconds() };
}

/**
 * Returns the rule of a latency that is longer than `most` for one in a thousand, for fifteen minutes. A 99th percentile would be hidden
 * by 20 quick answers a second, which is what strangers get for unknown paths; a count of its own would be one more metric to pay for.
 */
export function slow(latency: cloudwatch.Metric, most: Duration): AlarmRule {
  const metric = latency.with({ statistic: 'p99.9', period: fiveMinutes });
  return { metric, threshold: most.toMilliseconds(), periods: 3 };
}

/** Returns the rule of a share that should not fall: under 10 % of at least 20 attempts in each of three times five minutes. */
export function hardlyAny(succeeded: cloudwatch.Metric): AlarmRule {
  const expression = `IF(attempts >= ${leastSamples} AND succeeded < 0.1 * attempts, 1, 0)`;
  const usingMetrics = {
    succeeded: succeeded.with({ statistic: 'Sum' }),
    attempts: succeeded.with({ statistic: 'SampleCount' }),
  };
  return { metric: math(expression, usingMetrics, fiveMinutes), periods: 3 };
}

/** Returns the rule of a metric that must get values: it rings after `periods` periods without one, and some that CloudWatch adds. */
export function silent(written: cloudwatch.Metric, period: Duration, periods: number): AlarmRule {
  const metric = written.with({ statistic: 'SampleCount', period });
  return { metric, threshold: 1, comparison: 'below', periods };
}

/**
 * Returns the rule of a function that must run in each period, and never fail. Lambda counts by itself, for nothing, what a metric of
 * one's own would cost three times an alarm for: of each invocation `Errors` is 0 or 1. A period without any counts as a failure.
 */
export function succeeding(invoked: lambda.IFunction, period: Duration): AlarmRule {
  const errors = invoked.metricErrors({ statistic: 'Sum' });
  return { metric: math('FILL(1 - errors, 0)', { errors }, period), threshold: 1, comparison: 'below' };
}

const minute = Duration.minutes(1);
const fiveMinutes = Duration.minutes(5);
const threeOfFifteen = { periods: 3, among: 15 };

/** Fewer give no share: one of a few is many per cent. */
const leastSamples = 20;
const leastShare = 0.05;
const manyInAMinute = leastSamples / 5;

/** The share that rings where many fail: strangers' requests may be 24 of 25, and a large stage has a few failures at any time. */
const leastShareOfMany = 0.002;

function math(expression: string, metrics: Record<string, cloudwatch.Metric>, period = minute) {
  const usingMetrics = Object.fromEntries(Object.entries(metrics).map(([id, metric]) => [id, metric.with({ period })]));
  return new cloudwatch.MathExpression({ expression, usingMetrics, period });
}

/**
 * Returns the sum of a series over each minute and the four before it. Metric math has no moving sum; a minute earlier, a series is
 * `x - DIFF(x)`, and so on, which come together with binomial coefficients.
 */
function lastFive(series: string): string {
  const differences = [series];
  for (let order = 1; order < 5; order++) differences.push(`DIFF(${differences.at(-1)})`);
  return [5, -10, 10, -5, 1].map((factor, order) => `${factor} * ${differences[order]}`).join(' + ');
}
