import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import {
  filled,
  growing,
  hardlyAny,
  longWaits,
  notFalling,
  occurring,
  ownFaults,
  persisting,
  persistingOrMany,
  persistingShareOrMany,
  silent,
  slow,
  succeeding,
} from './alarm-rules.ts';
import { hasCustomers, metricsNamespace, type StageConfiguration } from './config.ts';
import type { AlarmRow } from './constructs/alarms.ts';
import type { HttpEndpoint } from './constructs/http-endpoint.ts';
import type { NodeFunction } from './constructs/node-function.ts';
import type { DeadLetterQueue, WorkQueue } from './constructs/work-queue.ts';

/*
 * All alarms: what users feel first, then what causes it. CloudWatch takes money for each metric that an alarm watches, so one watches
 * all functions of a kind where it can; a test adds them up.
 */

/** Returns the alarms of {auth_url}, and of both APIs where they share one. */
export function authAlarms(configuration: StageConfiguration, { auth }: { readonly auth: HttpEndpoint }): AlarmRows {
  return forStage(configuration, {
    LoginsFail: {
      severity: 'page',
      harm: 'Over 5 % of the requests to {auth_url}, or 4 a minute and over 0.2 %, end with 5xx: people cannot log in, or refresh.',
      command: 'smoke',
      rule: persistingShareOrMany(auth.api.metricServerError({ statistic: 'Sum' }), auth.api.metricCount()),
      customersOnly: true,
    },
    LoginsSlow: {
      severity: 'page',
      harm: 'One request in a thousand to {auth_url} takes over 3 s, for 15 minutes: people wait for their login.',
      command: 'smoke',
      rule: slow(auth.api.metricIntegrationLatency(), Duration.seconds(3)),
      customersOnly: true,
    },
    RequestsFail: {
      severity: 'page',
      harm: 'Functions of {auth_url} or {base_url} answer 500 or 503: requests fail for a fault of our own.',
      command: 'smoke',
      rule: persisting(own(configuration, 'RequestFailed', { functions: 'http' })),
    },
    StoreThrottled: {
      severity: 'page',
      harm: 'DynamoDB throttles a table or an index: what else rings now may ring for it. Logins and requests fail, or events wait.',
      command: 'status',
      rule: persisting(own(configuration, 'StoreThrottled', { store: 'dynamodb' })),
    },
    RequestsThrottled: {
      severity: 'page',
      harm: 'The gateway refuses over 5 % of the requests for tokens and webhooks with 429, honest ones among them.',
      command: 'status',
      rule: {
        metric: own(configuration, 'Throttled').with({ statistic: 'Average', period: Duration.minutes(5) }),
        threshold: 0.05,
        periods: 3,
      },
      customersOnly: true,
    },
    DiscoveryThrottled: {
      severity: 'ticket',
      harm: 'The gateway refuses requests for the documents under /.well-known with 429. No login and no webhook is refused for that.',
      command: 'status',
      rule: persisting(own(configuration, 'DiscoveryThrottled')),
      customersOnly: true,
    },
    InvalidGrantSurge: {
      severity: 'ticket',
      harm: 'Unusually many logins are refused: somebody guesses passwords, or a client repeats an old one.',
      command: 'clients list',
      rule: {
        metric: own(configuration, 'InvalidGrant', { service: 'token' }).with({ period: Duration.minutes(5) }),
        threshold: 500,
        periods: 2,
      },
      customersOnly: true,
    },
    RefreshTokenReuse: {
      severity: 'ticket',
      harm: 'A refresh token was used twice and its session was ended: somebody else may have a copy.',
      command: 'sessions list --user USER',
      rule: occurring(own(configuration, 'RefreshTokenReuse', { service: 'token' })),
    },
    KeysNotRotated: {
      severity: 'ticket',
      harm: 'No rotation of keys ended well for over 26 hours. Tokens are still issued, with the keys that are there.',
      command: 'keys list',
      // An alarm looks back for seven days at most where its periods are an hour or longer, and for one day where they are shorter.
      rule: silent(own(configuration, 'KeyCreated', { service: 'rotate-keys' }), Duration.hours(1), 26),
    },
  });
}

/** Returns the alarms of {base_url}. */
export function webhooksAlarms(
  configuration: StageConfiguration,
  { base }: { readonly base: HttpEndpoint },
): AlarmRows {
  return forStage(configuration, {
    ApiFails: {
      severity: 'page',
      harm: 'Over 5 % of the requests to {base_url}, or 4 a minute and over 0.2 %, end with 5xx: accounts can neither manage webhooks nor read deliveries.',
      command: 'smoke',
      rule: persistingShareOrMany(base.api.metricServerError({ statistic: 'Sum' }), base.api.metricCount()),
      customersOnly: true,
    },
    ApiSlow: {
      severity: 'ticket',
      harm: 'One request in a thousand to {base_url} takes over 5 s, for 15 minutes.',
      command: 'smoke',
      rule: slow(base.api.metricIntegrationLatency(), Duration.seconds(5)),
      customersOnly: true,
    },
  });
}

export function deliveryAlarms(
  configuration: StageConfiguration,
  { events, deadLetters, sweeper }: WatchedDelivery,
): AlarmRows {
  const count = (metricName: string) => own(configuration, metricName, { service: 'delivery' });
  const sweep = (metricName: string) => own(configuration, metricName, { service: 'sweep' });
  return forStage(configuration, {
    EventsStuck: {
      severity: 'page',
      harm: 'Events lie on the events queue and do not get fewer: for 15 minutes nothing new was delivered.',
      command: 'status',
      rule: notFalling(...depth(events)),
    },
    FirstAttemptsLate: {
      severity: 'page',
      harm: 'One event in a hundred waits for over a minute before it is first sent.',
      command: 'status',
      rule: longWaits(count('FirstAttemptWait'), Duration.minutes(1)),
      customersOnly: true,
    },
    RetriesLate: {
      severity: 'page',
      harm: 'A delivery is over 6 minutes late (8 in the slow queue): a retry, a resend, or one that waits for a slot or in a replay.',
      command: 'status',
      // Where many are late at once, the sweeper finds some of them again only after 4, 8 and 16 minutes.
      rule: {
        metric: sweep('OldestDue').with({ statistic: 'Maximum', period: Duration.minutes(1) }),
        threshold: Duration.minutes(6).toMilliseconds(),
        among: 20,
      },
    },
    NothingDelivered: {
      severity: 'page',
      harm: 'Under 10 % of attempts succeed, for 15 minutes: either one busy receiver fails, or our own network does for all.',
      command: 'status',
      rule: hardlyAny(count('Delivered')),
      customersOnly: true,
    },
    InternalErrors: {
      severity: 'page',
      harm: 'Attempts fail for faults of our own (KMS, DynamoDB, sockets): those events wait, and nothing is lost.',
      command: 'status',
      rule: ownFaults(count('InternalError'), count('Delivered')),
    },
    Deferred: {
      severity: 'page',
      harm: 'Outcomes cannot be stored: events wait, some are sent twice, and nothing is lost.',
      command: 'status',
      rule: persistingOrMany(count('MessageDeferred')),
    },
    DeadLetters: {
      severity: 'ticket',
      harm: 'New messages that Emissor could not process: they are delivered to nobody.',
      command: 'dlq list',
      rule: growing(deadLetters.metricApproximateNumberOfMessagesVisible()),
    },
    SweepStopped: {
      severity: 'page',
      harm: 'No sweep ended well for over 5 minutes: waits of over 15 minutes do not end.',
      command: 'status',
      rule: silent(sweep('OldestDue'), Duration.minutes(1), 5),
    },
    SweepFails: {
      severity: 'ticket',
      harm: 'A part of what each sweep does fails: owners are not told that their webhooks fail, or something comes late.',
      command: 'status',
      rule: persisting(sweeper.metricErrors()),
      customersOnly: true,
    },
    KeyNotEnabled: {
      severity: 'page',
      harm: 'A KMS key is disabled, or will be deleted: soon no token can be issued and no webhook’s secret be read, or no table and no queue be used, ever.',
      command: 'status',
      // The sweeper asks in minutes 0, 15, 30 and 45. Where sweeps begin near the end of a minute, one may slip into the next: then 30
      // minutes lie between two looks. That it does not stop asking is what `SweepStopped` watches.
      rule: { metric: filled(sweep('KeyNotEnabled').with({ statistic: 'Maximum' })), among: 35 },
    },
    SourceOff: {
      severity: 'ticket',
      harm: 'A queue is not read: somebody switched the trigger of its consumer off, or deleted it.',
      command: 'status',
      rule: { metric: filled(sweep('SourceOff').with({ statistic: 'Maximum', period: Duration.hours(1) })), among: 2 },
    },
    Blocked: {
      severity: 'ticket',
      harm: 'A registered URL led to an address that is not public: an attack, or a receiver’s broken DNS.',
      command: 'webhooks list',
      rule: occurring(count('Blocked')),
    },
  });
}

/** Returns the alarm of the mails of all others. */
export function mailAlarms(configuration: StageConfiguration, unsent: DeadLetterQueue): AlarmRows {
  const [visible] = depth(unsent);
  return forStage(configuration, {
    MailsFail: {
      severity: 'page',
      harm: 'Mails of alarms were not sent: whatever else rings, somebody does not hear of it.',
      command: 'status',
      rule: { metric: visible.with({ period: Duration.minutes(1) }), among: 15 }, // SQS may report a minute late, which is no second mail
      customersOnly: true,
      direct: true,
    },
  });
}

/** Returns the alarm of the scheduled smoke test, which runs once in each interval. */
export function smokeAlarms(test: NodeFunction, interval: Duration): AlarmRows {
  // A test is in each, and counted: it may begin five minutes late, takes up to three, and CloudWatch counts it after some more.
  const period = Duration.minutes(interval.toMinutes() + Math.max(interval.toMinutes(), 10));
  return {
    SmokeFailed: {
      severity: 'page',
      harm: 'The test of the whole stage, from login to delivery, failed or did not run.',
      command: 'smoke',
      rule: succeeding(test, period),
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
  { node, live, functionName, currentVersion }: NodeFunction,
): AlarmRows {
  const sum = { statistic: 'Sum', period: Duration.minutes(1) };
  const { version } = currentVersion;
  const row = { severity: 'ticket', command: 'status', section: 'ReleaseFails' } as const;
  const consequence = 'A release that is under way is taken back.';
  return {
    Crashes: {
      ...row,
      harm: `The new version of ${node.id} fails or times out. ${consequence}`,
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
      harm: `The new version of ${node.id} answers 500. ${consequence}`,
      rule: { metric: own(configuration, 'ServerError', { service, version }).with(sum) },
    },
  };
}

export type AlarmRows = Readonly<Record<string, AlarmRow>>;

interface WatchedDelivery {
  readonly events: WorkQueue;
  readonly deadLetters: DeadLetterQueue;
  readonly sweeper: NodeFunction;
}

function forStage(configuration: StageConfiguration, rows: AlarmRows): AlarmRows {
  return Object.fromEntries(
    Object.entries(rows).filter(([, { customersOnly = false }]) => !customersOnly || hasCustomers(configuration)),
  );
}

/** Returns a metric that functions write themselves, summed minute by minute. */
export function own(configuration: StageConfiguration, metricName: string, dimensionsMap = {}): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: metricsNamespace(configuration),
    metricName,
    dimensionsMap,
    statistic: 'Sum',
    period: Duration.minutes(1),
  });
}

/** Returns the messages of a queue that are visible, and those that are in flight. SQS reports both once a minute. */
function depth(queue: WorkQueue | DeadLetterQueue): [cloudwatch.Metric, cloudwatch.Metric] {
  const most = { statistic: 'Maximum' };
  return [
    queue.metricApproximateNumberOfMessagesVisible(most),
    queue.metricApproximateNumberOfMessagesNotVisible(most),
  ];
}
