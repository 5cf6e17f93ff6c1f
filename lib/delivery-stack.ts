import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type {
  DeliverEnvironment,
  DeliveriesApiEnvironment,
  SweepEnvironment,
} from '../lambdas/delivery/environment.ts';
import type { Lane } from '../lambdas/delivery/lane-routing.ts';
import { Alarms } from './constructs/alarms.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { QueueConsumer } from './constructs/queue-consumer.ts';
import { DeadLetterQueue, WorkQueue } from './constructs/work-queue.ts';
import type { DataStack } from './data-stack.ts';
import { deliveryAlarms } from './delivery-alarms.ts';
import type { StageProps } from './stage-props.ts';

/** The properties of the delivery stack. */
export interface DeliveryStackProps extends StageProps {
  readonly data: DataStack;
  /** Receivers see it in `User-Agent`. */
  readonly serviceVersion: string;
}

/**
 * The delivery of events: a queue and a consumer for each lane, the sweeper, which sends on what waits longer than a queue
 * can delay it, and the part of {base_url} that shows deliveries and sends them again.
 */
export class DeliveryStack extends Stack {
  readonly #props: DeliveryStackProps;
  readonly #historyDays: string;
  readonly #deadLetterQueue: DeadLetterQueue;
  readonly #queues: Readonly<Record<Lane, WorkQueue>>;

  constructor(scope: Construct, id: string, props: DeliveryStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;
    this.#props = props;
    this.#historyDays = String(Math.ceil(configuration.historyRetention / Duration.days(1).toMilliseconds()));
    this.#deadLetterQueue = new DeadLetterQueue(this, 'DeadLetterQueue');
    this.#queues = { first: this.#addQueue('first'), retry: this.#addQueue('retry'), slow: this.#addQueue('slow') };

    const consumers = {
      first: this.#addConsumer('first'),
      retry: this.#addConsumer('retry'),
      slow: this.#addConsumer('slow'),
    };
    const sweep = this.#addSweep();
    const deliveriesApi = this.#addDeliveriesApi();
    new Alarms(this, 'Alarms', {
      topic: data.operations,
      rules: deliveryAlarms({
        configuration,
        consumers,
        deadLetterQueue: this.#deadLetterQueue,
        sweep,
        deliveriesApi,
      }),
    });

    const publisher = new iam.ManagedPolicy(this, 'Publisher', {
      description: 'Allows an internal service to publish events to Emissor, and nothing else',
    });
    this.#queues.first.grant(publisher, 'sqs:SendMessage');

    const logGroups = Object.values(consumers).map(({ logGroup }) => logGroup.logGroupName);
    new CfnOutput(this, 'EventsQueueUrl', { value: this.#queues.first.queueUrl });
    new CfnOutput(this, 'RetryQueueUrl', { value: this.#queues.retry.queueUrl });
    new CfnOutput(this, 'SlowQueueUrl', { value: this.#queues.slow.queueUrl });
    new CfnOutput(this, 'DeadLetterQueueUrl', { value: this.#deadLetterQueue.queueUrl });
    new CfnOutput(this, 'DeliveryLogGroups', { value: logGroups.join(',') });
    new CfnOutput(this, 'HistoryDays', { value: this.#historyDays });
    new CfnOutput(this, 'DemandsUrl', { value: configuration.demandsUrl });
    new CfnOutput(this, 'PublisherPolicyArn', { value: publisher.managedPolicyArn });
  }

  #addQueue(lane: Lane): WorkQueue {
    const attemptSeconds = Math.ceil(this.#props.configuration.attemptTimeout / 1_000);
    return new WorkQueue(this, lanes[lane].queueId, {
      consumerTimeout: Duration.seconds(attemptSeconds + lanes[lane].secondsAroundAttempt),
      deadLetterQueue: this.#deadLetterQueue,
    });
  }

  #addConsumer(lane: Lane) {
    const { configuration, data, serviceVersion } = this.#props;
    const { functionId, entry, recursiveLoop } = lanes[lane];
    const { retry, slow } = this.#queues;
    const deliver = new QueueConsumer<DeliverEnvironment>(this, functionId, {
      configuration,
      entry,
      queue: this.#queues[lane],
      maxConcurrency: configuration[`${lane}Concurrency`],
      memorySize: 1024,
      environment: {
        LANE: lane,
        QUEUE_URL: this.#queues[lane].queueUrl,
        WEBHOOKS_TABLE: data.webhooks.tableName,
        DELIVERIES_TABLE: data.deliveries.tableName,
        KEYRING_TABLE: data.keyring.tableName,
        RETRY_QUEUE_URL: retry.queueUrl,
        SLOW_QUEUE_URL: slow.queueUrl,
        DEAD_LETTER_QUEUE_URL: this.#deadLetterQueue.queueUrl,
        DEMANDS_URL: configuration.demandsUrl,
        RETRY_SCHEDULE: configuration.retrySchedule.join(','),
        ATTEMPT_TIMEOUT_MS: String(configuration.attemptTimeout),
        GIVE_UP: configuration.giveUp,
        SLOW_RATE: String(configuration.slowRate),
        HISTORY_DAYS: this.#historyDays,
        OWN_HOSTS: `${data.auth.host},${data.base.host}`,
        SERVICE_VERSION: serviceVersion,
      },
      recursiveLoop,
    });
    data.webhooks.grantActions(deliver, 'BatchGetItem', 'UpdateItem');
    data.deliveries.grantActions(deliver, 'BatchGetItem', 'PutItem', 'UpdateItem');
    data.keyring.grantList(deliver, 'sealing');
    data.keyring.grantUnwrap(deliver, 'sealing');
    for (const queue of [retry, slow, this.#deadLetterQueue]) queue.grant(deliver, 'sqs:SendMessage');
    return deliver;
  }

  #addSweep() {
    const { configuration, data } = this.#props;
    const { retry, slow } = this.#queues;
    const sweep = new NodeFunction<SweepEnvironment>(this, 'Sweep', {
      configuration,
      entry: 'lambdas/delivery/sweeper/sweep.handler.ts',
      timeout: Duration.seconds(55),
      memorySize: 1024,
      environment: {
        DELIVERIES_TABLE: data.deliveries.tableName,
        WEBHOOKS_TABLE: data.webhooks.tableName,
        RETRY_QUEUE_URL: retry.queueUrl,
        SLOW_QUEUE_URL: slow.queueUrl,
        SLOW_RATE: String(configuration.slowRate),
        OPERATIONS_TOPIC_ARN: data.operations.topicArn,
        HISTORY_DAYS: this.#historyDays,
      },
    });
    data.deliveries.grantActions(sweep, 'BatchGetItem', 'PutItem', 'UpdateItem');
    data.deliveries.grantQueryIndex(sweep, 'due');
    data.deliveries.grantQueryIndex(sweep, 'undelivered');
    data.webhooks.grantActions(sweep, 'BatchGetItem', 'UpdateItem');
    data.webhooks.grantQueryIndex(sweep, 'announcements');
    data.operations.grants.publish(sweep);
    for (const queue of [retry, slow]) queue.grant(sweep, 'sqs:SendMessage');
    new events.Rule(this, 'SweepEveryMinute', {
      description: 'Sends due deliveries to their queue, drives replays, announces failing and suspended webhooks',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      targets: [new targets.LambdaFunction(sweep)],
    });
    return sweep;
  }

  #addDeliveriesApi() {
    const { configuration, data } = this.#props;
    const { retry } = this.#queues;
    const api = new NodeFunction<DeliveriesApiEnvironment>(this, 'DeliveriesApi', {
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
        RETRY_QUEUE_URL: retry.queueUrl,
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
        DEMANDS_URL: configuration.demandsUrl,
        HISTORY_DAYS: this.#historyDays,
        TEST_LIMIT: String(configuration.testLimit),
        RESEND_LIMIT: String(configuration.resendLimit),
        DOCS_URL: configuration.docsUrl ?? '',
      },
    });
    for (const table of [data.clients, data.users, data.sessions]) table.grantActions(api, 'BatchGetItem');
    data.keyring.grantList(api, 'signing');
    data.webhooks.grantActions(api, 'BatchGetItem', 'GetItem', 'UpdateItem');
    data.deliveries.grantActions(api, 'BatchGetItem', 'PutItem', 'UpdateItem');
    data.deliveries.grantQueryIndex(api, 'byWebhook');
    data.deliveries.grantQueryIndex(api, 'undelivered');
    retry.grant(api, 'sqs:SendMessage');
    data.base.addRoute(this, 'TestRoute', '/v1/webhooks/{evento}/teste', api);
    data.base.addRoute(this, 'DeliveriesRoute', '/v1/webhooks/{evento}/entregas', api);
    data.base.addRoute(this, 'DeliveryRoute', '/v1/webhooks/{evento}/entregas/{id}', api);
    data.base.addRoute(this, 'ResendRoute', '/v1/webhooks/{evento}/entregas/{id}/reenvio', api);
    data.base.addRoute(this, 'ReplaysRoute', '/v1/webhooks/{evento}/reenvios', api);
    data.base.addRoute(this, 'ReplayRoute', '/v1/webhooks/{evento}/reenvios/{id}', api);
    return api;
  }
}

/** How the queue and the consumer of a lane differ from those of the others. */
interface LaneSettings {
  readonly queueId: string;
  readonly functionId: string;
  readonly entry: string;
  /**
   * Seconds that an invocation may take beyond one attempt: for reads and writes around it, and for further messages that
   * it receives. The messages of an invocation that times out stay hidden for six times its timeout.
   */
  readonly secondsAroundAttempt: number;
  readonly recursiveLoop?: lambda.RecursiveLoop;
}

const lanes: Readonly<Record<Lane, LaneSettings>> = {
  first: {
    queueId: 'EventsQueue',
    functionId: 'DeliverFirst',
    entry: 'lambdas/delivery/worker/deliver.handler.ts',
    secondsAroundAttempt: 15,
  },
  retry: {
    queueId: 'RetryQueue',
    functionId: 'DeliverRetry',
    entry: 'lambdas/delivery/worker/deliver.handler.ts',
    secondsAroundAttempt: 15,
    // It sends to its own queue on purpose: deliveries and replays end by their own counts and dates.
    recursiveLoop: lambda.RecursiveLoop.ALLOW,
  },
  slow: {
    queueId: 'SlowQueue',
    functionId: 'DeliverSlow',
    entry: 'lambdas/delivery/worker/deliver.handler.ts',
    secondsAroundAttempt: 30,
    recursiveLoop: lambda.RecursiveLoop.ALLOW, // as in the retry lane
  },
};
