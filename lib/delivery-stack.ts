import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type {
  DeliverEnvironment,
  DeliveriesApiEnvironment,
  SweepEnvironment,
} from '../lambdas/delivery/environment.ts';
import type { Lane } from '../lambdas/delivery/lane-routing.ts';
import type { DeliveryMetric } from '../lambdas/delivery/telemetry.ts';
import { Alarms } from './constructs/alarm.ts';
import { route } from './constructs/http-endpoint.ts';
import { allowKeyUse, allowListingKeys } from './constructs/keyring-access.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { deadLetterQueue, newLetters, workQueue } from './constructs/work-queue.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

/** What the delivery stack is given. */
export interface DeliveryStackProps extends StageProps {
  readonly data: DataStack;
  /** Told to receivers in `User-Agent`. */
  readonly serviceVersion: string;
}

/** A few faults in five minutes are waited out and need nobody. */
const mendedByItself = 10;

/**
 * Seconds that an invocation may take beyond one attempt: what reads and writes around it take, and while it receives further
 * messages. A killed one hides its batch for six times as long, which in the quick lanes is what others would wait.
 */
const aroundAttempt: Readonly<Record<Lane, number>> = { first: 15, retry: 15, slow: 30 };

/** Batches at once that one provisioned poller feeds. */
const batchesPerPoller = 10;

/**
 * The queues, their consumers, the sweeper that brings back what waits longer than a queue can hold it, and the part of
 * {base_url} that shows deliveries and sends them again.
 */
export class DeliveryStack extends Stack {
  constructor(scope: Construct, id: string, props: DeliveryStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;

    const deadLetters = deadLetterQueue(this, 'DeadLetterQueue');
    const timeoutOf = (lane: Lane) =>
      Duration.seconds(Math.ceil(configuration.attemptTimeout / 1_000) + aroundAttempt[lane]);
    const queueOf = (lane: Lane, name: string) =>
      workQueue(this, name, { consumerTimeout: timeoutOf(lane), deadLetterQueue: deadLetters });
    const eventsQueue = queueOf('first', 'EventsQueue');
    const retryQueue = queueOf('retry', 'RetryQueue');
    const slowQueue = queueOf('slow', 'SlowQueue');
    const historyDays = String(Math.ceil(configuration.historyRetention / Duration.days(1).toMilliseconds()));

    const alarms = new Alarms(this, 'Alarms', { topic: data.operations, configuration });
    const logGroups: string[] = [];
    const consumer = (name: string, { lane, source, maxConcurrency, entry, recursiveLoop }: Consumer): void => {
      const deliver = new NodeFunction<DeliverEnvironment>(this, name, {
        configuration,
        entry,
        timeout: timeoutOf(lane),
        memorySize: 1024,
        environment: {
          LANE: lane,
          QUEUE_URL: source.queueUrl,
          WEBHOOKS_TABLE: data.webhooks.tableName,
          DELIVERIES_TABLE: data.deliveries.tableName,
          KEYRING_TABLE: data.keyring.tableName,
          RETRY_QUEUE_URL: retryQueue.queueUrl,
          SLOW_QUEUE_URL: slowQueue.queueUrl,
          DEAD_LETTER_QUEUE_URL: deadLetters.queueUrl,
          DEMANDS_URL: configuration.demandsUrl,
          RETRY_SCHEDULE: configuration.retrySchedule.join(','),
          ATTEMPT_TIMEOUT_MS: String(configuration.attemptTimeout),
          GIVE_UP: configuration.giveUp,
          SLOW_RATE: String(configuration.slowRate),
          HISTORY_DAYS: historyDays,
          OWN_HOSTS: `${data.auth.host},${data.base.host}`,
          SERVICE_VERSION: props.serviceVersion,
        },
        ...(recursiveLoop ? { recursiveLoop } : {}),
      });
      deliver.addEventSource(
        new SqsEventSource(source, {
          batchSize: 10,
          reportBatchItemFailures: true,
          ...(configuration.provisionedPollers > 0
            ? { provisionedPollerConfig: pollersFor(configuration.provisionedPollers, maxConcurrency) }
            : { maxConcurrency }),
        }),
      );
      alarms.add(`${name}Crashes`, {
        description: `The function ${name} fails or times out: its messages come back after six times its timeout.`,
        metric: deliver.metricErrors(),
      });
      deliver.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.webhooks.tableArn);
      deliver.allow(['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], data.deliveries.tableArn);
      for (const queue of [retryQueue, slowQueue, deadLetters]) deliver.allow(['sqs:SendMessage'], queue.queueArn);
      deliver.allow(['sqs:ChangeMessageVisibility'], source.queueArn);
      allowListingKeys(deliver, data, ['sealing']);
      allowKeyUse(deliver, data.key, ['kms:Decrypt'], ['sealing']);
      logGroups.push(deliver.logGroup.logGroupName);
    };
    consumer('DeliverFirst', {
      lane: 'first',
      source: eventsQueue,
      maxConcurrency: configuration.firstConcurrency,
      entry: 'lambdas/delivery/worker/deliver.handler.ts',
    });
    // These feed each other's queues and their own, a turn of a delivery or of a replay at a time, and mean to: turns end
    // by their own count and dates.
    const redeliver = {
      entry: 'lambdas/delivery/worker/deliver.handler.ts',
      recursiveLoop: lambda.RecursiveLoop.ALLOW,
    };
    consumer('DeliverRetry', {
      ...redeliver,
      lane: 'retry',
      source: retryQueue,
      maxConcurrency: configuration.retryConcurrency,
    });
    consumer('DeliverSlow', {
      ...redeliver,
      lane: 'slow',
      source: slowQueue,
      maxConcurrency: configuration.slowConcurrency,
    });
    for (const [name, service] of [
      ['DeliverFirst', 'deliver-first'],
      ['DeliverRetry', 'deliver-retry'],
      ['DeliverSlow', 'deliver-slow'],
    ] as const) {
      const count = (metric: DeliveryMetric) => alarms.count(service, metric);
      alarms.add(`${name}Blocked`, {
        description: 'A registered URL led to an address that is not public: an attack, or a receiver’s broken DNS.',
        metric: count('Blocked'),
      });
      alarms.add(`${name}InternalErrors`, {
        description:
          'Attempts fail for faults of our own (KMS, the store, sockets): nothing is lost, and nothing arrives.',
        metric: count('InternalError'),
        above: mendedByItself,
      });
      alarms.add(`${name}Deferred`, {
        description: 'Messages wait because what became of them cannot be stored: nothing is lost, and little arrives.',
        metric: count('MessageDeferred'),
        above: mendedByItself,
      });
    }

    const sweep = new NodeFunction<SweepEnvironment>(this, 'Sweep', {
      configuration,
      entry: 'lambdas/delivery/sweeper/sweep.handler.ts',
      timeout: Duration.seconds(55),
      memorySize: 1024,
      environment: {
        DELIVERIES_TABLE: data.deliveries.tableName,
        WEBHOOKS_TABLE: data.webhooks.tableName,
        RETRY_QUEUE_URL: retryQueue.queueUrl,
        SLOW_QUEUE_URL: slowQueue.queueUrl,
        SLOW_RATE: String(configuration.slowRate),
        OPERATIONS_TOPIC_ARN: data.operations.topicArn,
        HISTORY_DAYS: historyDays,
      },
    });
    sweep.allow(['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], data.deliveries.tableArn);
    sweep.allow(['dynamodb:Query'], `${data.deliveries.tableArn}/index/due`);
    sweep.allow(['dynamodb:Query'], `${data.deliveries.tableArn}/index/undelivered`);
    sweep.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.webhooks.tableArn);
    sweep.allow(['dynamodb:Query'], `${data.webhooks.tableArn}/index/announcements`);
    for (const queue of [retryQueue, slowQueue]) sweep.allow(['sqs:SendMessage'], queue.queueArn);
    sweep.allow(['sns:Publish'], data.operations.topicArn);
    new events.Rule(this, 'SweepEveryMinute', {
      description:
        'Moves deliveries that fall due to the retry queue, drives replays, tells of failing and suspended webhooks',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      targets: [new targets.LambdaFunction(sweep)],
    });

    const history = new NodeFunction<DeliveriesApiEnvironment>(this, 'DeliveriesApi', {
      configuration,
      entry: 'lambdas/delivery/api/deliveries-api.handler.ts',
      timeout: Duration.seconds(20),
      memorySize: 1024,
      environment: {
        CLIENTS_TABLE: data.clients.tableName,
        USERS_TABLE: data.users.tableName,
        SESSIONS_TABLE: data.sessions.tableName,
        KEYRING_TABLE: data.keyring.tableName,
        WEBHOOKS_TABLE: data.webhooks.tableName,
        DELIVERIES_TABLE: data.deliveries.tableName,
        RETRY_QUEUE_URL: retryQueue.queueUrl,
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
        DEMANDS_URL: configuration.demandsUrl,
        HISTORY_DAYS: historyDays,
        TEST_LIMIT: String(configuration.testLimit),
        RESEND_LIMIT: String(configuration.resendLimit),
        DOCS_URL: configuration.docsUrl ?? '',
      },
    });
    for (const table of [data.clients, data.users, data.sessions, data.webhooks]) {
      history.allow(['dynamodb:BatchGetItem'], table.tableArn);
    }
    history.allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], data.webhooks.tableArn);
    history.allow(['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], data.deliveries.tableArn);
    history.allow(['dynamodb:Query'], `${data.deliveries.tableArn}/index/byWebhook`);
    history.allow(['dynamodb:Query'], `${data.deliveries.tableArn}/index/undelivered`);
    history.allow(['sqs:SendMessage'], retryQueue.queueArn);
    allowListingKeys(history, data, ['signing']);
    route(this, 'TestRoute', data.base, '/v1/webhooks/{evento}/teste', history);
    route(this, 'DeliveriesRoute', data.base, '/v1/webhooks/{evento}/entregas', history);
    route(this, 'DeliveryRoute', data.base, '/v1/webhooks/{evento}/entregas/{id}', history);
    route(this, 'ResendRoute', data.base, '/v1/webhooks/{evento}/entregas/{id}/reenvio', history);
    route(this, 'ReplaysRoute', data.base, '/v1/webhooks/{evento}/reenvios', history);
    route(this, 'ReplayRoute', data.base, '/v1/webhooks/{evento}/reenvios/{id}', history);
    alarms.add('DeliveriesApiCrashes', {
      description: 'The history API fails or times out.',
      metric: history.metricErrors(),
    });

    alarms.add('DeadLetters', {
      description:
        'New messages that Emissor could not process. Their attribute `reason` says why: npm run ops -- dlq list.',
      metric: newLetters(deadLetters),
      among: 5, // SQS may report a minute late; five minutes without new ones, and it is quiet
    });
    alarms.add('EventsWait', {
      description: 'Events wait for their first attempt for over a minute.',
      metric: eventsQueue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1) }),
      above: 60,
      periods: 5,
    });
    for (const [id, queue, whose, longestDelay] of [
      ['RetriesWait', retryQueue, 'Retries wait', Duration.minutes(15)],
      ['SlowRetriesWait', slowQueue, 'Attempts of slow webhooks wait', Duration.seconds(75)],
    ] as const) {
      alarms.add(id, {
        description: `${whose} five minutes longer than the longest delay of their queue: their consumer does not keep up.`,
        metric: queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1) }),
        above: longestDelay.toSeconds() + 300,
        periods: 5,
      });
    }
    alarms.add('SweepStopped', {
      description: 'The sweeper has not run for five minutes: waits over 15 minutes are not over in time.',
      metric: sweep.metricInvocations({ period: Duration.minutes(5) }),
      below: 1,
    });
    alarms.add('SweepCrashes', { description: 'The sweeper fails or times out.', metric: sweep.metricErrors() });

    const publisher = new iam.ManagedPolicy(this, 'Publisher', {
      description: 'Lets an internal service publish events to Emissor, and nothing else',
      statements: [new iam.PolicyStatement({ actions: ['sqs:SendMessage'], resources: [eventsQueue.queueArn] })],
    });
    new CfnOutput(this, 'EventsQueueUrl', { value: eventsQueue.queueUrl });
    new CfnOutput(this, 'RetryQueueUrl', { value: retryQueue.queueUrl });
    new CfnOutput(this, 'SlowQueueUrl', { value: slowQueue.queueUrl });
    new CfnOutput(this, 'DeadLetterQueueUrl', { value: deadLetters.queueUrl });
    new CfnOutput(this, 'DeliveryLogGroups', { value: logGroups.join(',') });
    new CfnOutput(this, 'HistoryDays', { value: historyDays });
    new CfnOutput(this, 'DemandsUrl', { value: configuration.demandsUrl });
    new CfnOutput(this, 'PublisherPolicyArn', { value: publisher.managedPolicyArn });
  }
}

/** A queue's consumer. */
interface Consumer {
  readonly lane: Lane;
  readonly source: sqs.Queue;
  /** Batches at once. */
  readonly maxConcurrency: number;
  readonly entry: string;
  readonly recursiveLoop?: lambda.RecursiveLoop;
}

/** Pollers that are paid for while nothing happens: they exclude a maximum concurrency, which their own maximum stands for. */
function pollersFor(minimumPollers: number, batches: number) {
  return {
    minimumPollers,
    maximumPollers: Math.max(minimumPollers, Math.ceil(batches / batchesPerPoller)),
  };
}
