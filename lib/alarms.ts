import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { metricsNamespace, type StageConfiguration } from './config.ts';
import type { AlarmRow, AlarmRule } from './constructs/alarms.ts';
import type { HttpEndpoint } from './constructs/http-endpoint.ts';
import type { NodeFunction } from './constructs/node-function.ts';
import type { DeadLetterQueue, WorkQueue } from './constructs/work-queue.ts';

/** Returns the alarms for {auth_url}, the key rotation and the shared tables. */
export function authAlarms(configuration: StageConfiguration, { auth }: { readonly auth: HttpEndpoint }): AlarmRows {
  return {
    LoginsFail: {
      severity: 'page',
      impact: 'Requests to {auth_url} fail with 5xx. Users cannot log in or refresh tokens.',
      command: 'smoke',
      rule: repeated(auth.api.metricServerError()),
    },
    StoreThrottled: {
      severity: 'page',
      impact: 'DynamoDB throttles a table or an index. Logins and requests fail, and events are delayed.',
      command: 'status',
      rule: repeated(ownMetric(configuration, 'StoreThrottled', { store: 'dynamodb' })),
    },
    InvalidGrantSurge: {
      severity: 'ticket',
      impact:
        'Emissor rejected over 500 logins in 5 minutes. An attacker may be guessing passwords, or a client may have an old one.',
      command: 'clients list',
      rule: {
        metric: ownMetric(configuration, 'InvalidGrant', { service: 'token' }).with({ period: fiveMinutes }),
        threshold: 500,
        periods: 2,
      },
    },
    RefreshTokenReuse: {
      severity: 'ticket',
      impact: 'A refresh token was used twice, so Emissor ended its session. An attacker may have a copy of the token.',
      command: 'sessions list --user USER',
      rule: once(ownMetric(configuration, 'RefreshTokenReuse', { service: 'token' })),
    },
    KeysNotRotated: {
      severity: 'ticket',
      impact:
        'The daily key rotation has not succeeded for 26 hours. New logins will fail once the current keys expire.',
      command: 'keys list',
      // CloudWatch evaluates at most 7 days if the period is 1 hour or longer, and at most 1 day otherwise.
      rule: {
        metric: ownMetric(configuration, 'KeyCreated', { service: 'rotate-keys' }).with({
          statistic: 'SampleCount',
          period: Duration.hours(1),
        }),
        threshold: 1,
        comparison: 'below',
        periods: 26,
        missing: 'breaching',
      },
    },
  };
}

/** Returns the alarm for the functions behind both APIs. */
export function webhooksAlarms(configuration: StageConfiguration): AlarmRows {
  return {
    RequestsFail: {
      severity: 'page',
      impact: 'Functions of {auth_url} or {base_url} return 500 or 503 because of internal errors.',
      command: 'smoke',
      // The gateway's 5xx metric also counts 503 responses to concurrent changes of one webhook, which are not internal errors.
      rule: repeated(ownMetric(configuration, 'RequestFailed', { functions: 'http' })),
    },
  };
}

export function deliveryAlarms(
  configuration: StageConfiguration,
  { events, deadLetters }: { readonly events: WorkQueue; readonly deadLetters: DeadLetterQueue },
): AlarmRows {
  const delivery = { service: 'delivery' };
  return {
    EventsStuck: {
      severity: 'page',
      impact: 'The oldest event has waited over 5 minutes for its first attempt. Receivers get webhooks late.',
      command: 'status',
      rule: {
        metric: events.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: minute }),
        threshold: Duration.minutes(5).toSeconds(),
        periods: 3,
      },
    },
    RetriesLate: {
      severity: 'page',
      impact: 'Deliveries are over 6 minutes overdue, or the sweeper has stopped resending them.',
      command: 'status',
      rule: {
        metric: ownMetric(configuration, 'OldestDue', { service: 'sweep' }).with({ statistic: 'Maximum' }),
        threshold: Duration.minutes(6).toMilliseconds(),
        periods: 3,
        among: 10,
        missing: 'breaching',
      },
    },
    NothingDelivered: {
      severity: 'page',
      impact:
        'In each of three 5-minute periods, under 10% of at least 20 attempts succeeded. Receivers get almost no webhooks.',
      command: 'status',
      rule: {
        metric: new cloudwatch.MathExpression({
          expression: 'IF(attempts >= 20, delivered / attempts, 1)',
          usingMetrics: {
            delivered: ownMetric(configuration, 'Delivered', delivery).with({ period: fiveMinutes }),
            attempts: ownMetric(configuration, 'Delivered', delivery).with({
              statistic: 'SampleCount',
              period: fiveMinutes,
            }),
          },
          period: fiveMinutes,
        }),
        threshold: 0.1,
        comparison: 'below',
        periods: 3,
      },
    },
    InternalErrors: {
      severity: 'page',
      impact:
        'Because of internal errors (KMS, DynamoDB, network), Emissor cannot attempt deliveries or store outcomes. Events are delayed.',
      command: 'status',
      rule: repeated(ownMetric(configuration, 'InternalError', delivery)),
    },
    DeadLetters: {
      severity: 'ticket',
      impact: 'The dead-letter queue contains messages that Emissor could not process and will not deliver.',
      command: 'dlq list',
      rule: {
        metric: deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: fiveMinutes }),
        among: 3, // SQS may report the value minutes late, and the gap must not cause a second e-mail
      },
    },
    Blocked: {
      severity: 'ticket',
      impact: 'A registered URL resolved to a non-public address, because of an attack or a wrong DNS record.',
      command: 'webhooks list',
      rule: once(ownMetric(configuration, 'Blocked', delivery)),
    },
  };
}

/** Returns an alarm for each certificate used by the stage's domains. */
export function certificateAlarms({ authDomain, baseDomain }: StageConfiguration): AlarmRows {
  const rows: Record<string, AlarmRow> = {};
  const add = (name: string, url: string, CertificateArn: string) => {
    rows[name] = {
      severity: 'ticket',
      impact: `The certificate for ${url} expires within 30 days, because ACM has not renewed it. After that, clients cannot connect.`,
      command: 'status',
      section: 'CertificateExpires',
      // ACM renews a certificate 45 days before it expires. For an expired certificate, ACM does not report DaysToExpiry.
      rule: {
        metric: new cloudwatch.Metric({
          namespace: 'AWS/CertificateManager',
          metricName: 'DaysToExpiry',
          dimensionsMap: { CertificateArn },
          statistic: 'Minimum',
          period: Duration.days(1),
        }),
        threshold: 30,
        comparison: 'below',
        missing: 'breaching',
      },
    };
  };
  if (authDomain) add('AuthCertificateExpires', '{auth_url}', authDomain.certificateArn);
  if (baseDomain && baseDomain.certificateArn !== authDomain?.certificateArn)
    add('BaseCertificateExpires', '{base_url}', baseDomain.certificateArn);
  return rows;
}

/** Returns the alarm for the scheduled smoke test, which runs once in each interval. */
export function smokeAlarms(test: NodeFunction, interval: Duration): AlarmRows {
  // Each period contains a completed test. A test may start 5 minutes late and take 3 minutes, and CloudWatch counts it slightly later.
  const period = Duration.minutes(interval.toMinutes() + Math.max(interval.toMinutes(), 10));
  return {
    SmokeFailed: {
      severity: 'page',
      impact: 'The scheduled smoke test, which covers login to delivery, failed or did not run.',
      command: 'smoke',
      // Without `FILL`, CloudWatch would evaluate older periods if the newest period has no value.
      rule: {
        metric: new cloudwatch.MathExpression({
          expression: 'FILL(1 - errors, 0)',
          usingMetrics: { errors: test.metricErrors({ statistic: 'Sum', period }) },
          period,
        }),
        threshold: 1,
        comparison: 'below',
        missing: 'breaching',
      },
    },
  };
}

/**
 * Returns the alarms for a function's new version. They fire if an invocation throws, runs out of memory, times out or returns 500.
 * Lambda does not count a 500 as an error. It reports metrics by version while an alias points to two versions.
 */
export function releaseAlarms(
  configuration: StageConfiguration,
  service: string,
  { node, live, functionName, currentVersion }: NodeFunction,
): AlarmRows {
  const sum = { statistic: 'Sum', period: minute };
  const { version } = currentVersion;
  const row = { severity: 'ticket', command: 'rollback', section: 'ReleaseFails' } as const;
  const consequence = 'CodeDeploy rolls back a release in progress.';
  return {
    Crashes: {
      ...row,
      impact: `The new version of ${node.id} fails or times out. ${consequence}`,
      rule: {
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
    },
    ServerErrors: {
      ...row,
      impact: `The new version of ${node.id} returns 500. ${consequence}`,
      rule: { metric: ownMetric(configuration, 'ServerError', { service, version }).with(sum) },
    },
  };
}

export type AlarmRows = Readonly<Record<string, AlarmRow>>;

/** Returns a metric that the functions write, as a sum per minute. */
export function ownMetric(configuration: StageConfiguration, metricName: string, dimensions = {}): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: metricsNamespace(configuration),
    metricName,
    dimensionsMap: dimensions,
    statistic: 'Sum',
    period: minute,
  });
}

/** Returns a rule for faults that may resolve without action. The alarm fires if the fault occurs in 3 of the last 15 minutes. */
function repeated(count: cloudwatch.Metric): AlarmRule {
  return { metric: count.with({ statistic: 'Sum', period: minute }), periods: 3, among: 15 };
}

/** Returns a rule that fires on the first occurrence. Anyone can cause further occurrences, so those within 15 minutes send no e-mail. */
function once(count: cloudwatch.Metric): AlarmRule {
  return { metric: count.with({ statistic: 'Sum', period: minute }), among: 15 };
}

const minute = Duration.minutes(1);
const fiveMinutes = Duration.minutes(5);
