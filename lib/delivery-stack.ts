import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import { deliveryRoutes } from '../lambdas/delivery/api/routes.ts';
import { deliveriesApiEnvironment, sweepEnvironment } from '../lambdas/delivery/environment.ts';
import { deliveryAlarms } from './alarms.ts';
import { hasCustomers, stageVariables } from './config.ts';
import { Alarms } from './constructs/alarms.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { RejectedEventsTopic } from './constructs/rejected-events-topic.ts';
import { Releases } from './constructs/releases.ts';
import type { WorkQueue } from './constructs/work-queue.ts';
import { StageDashboard } from './dashboard.ts';
import type { DataStack } from './data-stack.ts';
import { addDeliveryLanes, type DeliveryLanes } from './delivery-lanes.ts';
import { addPublishers } from './publishers.ts';
import type { StageProps } from './stage-props.ts';

export interface DeliveryStackProps extends StageProps {
  readonly data: DataStack;
  /** The version that receivers see in `User-Agent`. */
  readonly serviceVersion: string;
}

/**
 * The resources that deliver events: the queues and consumers of the lanes, the sweeper, and the routes of {base_url} that show and
 * resend deliveries. The sweeper sends messages that must wait longer than the maximum delay of a queue.
 */
export class DeliveryStack extends Stack {
  /** The queue that publishers send to. */
  readonly eventsQueue: WorkQueue;
  /** The log of the function that handles requests. */
  readonly requestLog: ILogGroup;
  readonly #props: DeliveryStackProps;
  readonly #rejectedEvents: RejectedEventsTopic;
  readonly #lanes: DeliveryLanes;

  constructor(scope: Construct, id: string, props: DeliveryStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;
    this.#props = props;
    this.#rejectedEvents = new RejectedEventsTopic(this, 'RejectedEvents', { configuration });
    this.#lanes = addDeliveryLanes(this, {
      ...props,
      rejectedEvents: this.#rejectedEvents,
    });
    const { queues, deadLetterQueue, consumers } = this.#lanes;
    const sweep = this.#addSweep();
    const deliveriesApi = this.#addDeliveriesApi();
    const topics = data.alarmTopics;
    new Alarms(this, 'Alarms', {
      configuration,
      topics,
      rows: deliveryAlarms(configuration, { events: queues.first, deadLetters: deadLetterQueue }),
    });
    if (hasCustomers(configuration)) {
      new StageDashboard(this, 'Dashboard', {
        configuration,
        auth: data.auth,
        base: data.base,
        queues: { events: queues.first, retries: queues.retry, slow: queues.slow },
        deadLetters: deadLetterQueue,
        deliveryLogs: Object.values(consumers).map(({ logGroup }) => logGroup),
      });
    }
    const services = { history: deliveriesApi };
    new Releases(this, 'Releases', { configuration, topics, services, others: [...Object.values(consumers), sweep] });

    addPublishers(this, { configuration, queue: queues.first, rejectedEvents: this.#rejectedEvents });
    this.eventsQueue = queues.first;
    this.requestLog = deliveriesApi.logGroup;
    // The smoke stack imports these values if it has a schedule. Without permanent exports, operators could not remove the schedule.
    this.exportValue(queues.first.queueArn);
    this.exportValue(queues.first.queueUrl);

    const logGroups = Object.values(consumers).map(({ logGroup }) => logGroup.logGroupName);
    new CfnOutput(this, 'RetryQueueUrl', { value: queues.retry.queueUrl });
    new CfnOutput(this, 'SlowQueueUrl', { value: queues.slow.queueUrl });
    new CfnOutput(this, 'DeadLetterQueueUrl', { value: deadLetterQueue.queueUrl });
    new CfnOutput(this, 'DeliveryLogGroups', { value: logGroups.join(',') });
    new CfnOutput(this, 'DemandsUrl', { value: configuration.demandsUrl });
    if (configuration.smokeReceiverUrl) {
      new CfnOutput(this, 'SmokeReceiverUrl', { value: configuration.smokeReceiverUrl });
    }
  }

  #addSweep(): NodeFunction {
    const { configuration, data } = this.#props;
    const { retry } = this.#lanes.queues;
    const sweep = new NodeFunction<z.input<typeof sweepEnvironment>>(this, 'Sweep', {
      configuration,
      entry: 'lambdas/delivery/sweeper/sweep.handler.ts',
      timeout: Duration.seconds(55),
      memorySize: 1024,
      tables: {
        DELIVERIES_TABLE: data.deliveries
          .allow('BatchGetItem', 'PutItem', 'UpdateItem')
          .allowQuery('due', 'undelivered'),
        WEBHOOKS_TABLE: data.webhooks.allow('BatchGetItem', 'UpdateItem').allowQuery('announcements'),
      },
      environment: {
        ...stageVariables(sweepEnvironment, configuration),
        RETRY_QUEUE_URL: retry.queueUrl,
        OPERATIONS_TOPIC_ARN: data.operations.topicArn,
      },
    });
    data.operations.grants.publish(sweep);
    retry.grant(sweep, 'sqs:SendMessage');
    // The next sweep starts within a minute. Retries would add to the load that may have caused the failure.
    sweep.live.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new events.Rule(this, 'SweepEveryMinute', {
      description: 'Sends due deliveries to their queue, runs replays, and reports failing and suspended webhooks',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      targets: [new targets.LambdaFunction(sweep.live)],
    });
    return sweep;
  }

  #addDeliveriesApi() {
    const { configuration, data } = this.#props;
    const { retry } = this.#lanes.queues;
    const api = new NodeFunction<z.input<typeof deliveriesApiEnvironment>>(this, 'DeliveriesApi', {
      configuration,
      entry: 'lambdas/base-api/deliveries-api.handler.ts',
      timeout: Duration.seconds(20),
      memorySize: 1024,
      tables: {
        CLIENTS_TABLE: data.clients.allow('BatchGetItem'),
        USERS_TABLE: data.users.allow('BatchGetItem'),
        SESSIONS_TABLE: data.sessions.allow('BatchGetItem'),
        KEYRING_TABLE: data.keyring.allowUse({ list: ['signing'] }),
        WEBHOOKS_TABLE: data.webhooks.allow('BatchGetItem', 'GetItem', 'UpdateItem'),
        DELIVERIES_TABLE: data.deliveries
          .allow('BatchGetItem', 'PutItem', 'UpdateItem')
          .allowQuery('byWebhook', 'undelivered'),
      },
      environment: {
        ...stageVariables(deliveriesApiEnvironment, configuration),
        RETRY_QUEUE_URL: retry.queueUrl,
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
      },
    });
    retry.grant(api, 'sqs:SendMessage');
    data.base.addRoutes(this, deliveryRoutes, () => api);
    return api;
  }
}
