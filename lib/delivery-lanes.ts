import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import { deliverEnvironment } from '../lambdas/delivery/environment.ts';
import type { Lane } from '../lambdas/delivery/lane-routing.ts';
import { type StageConfiguration, stageVariables } from './config.ts';
import { QueueConsumer } from './constructs/queue-consumer.ts';
import type { RejectedEventsTopic } from './constructs/rejected-events-topic.ts';
import { DeadLetterQueue, WorkQueue } from './constructs/work-queue.ts';
import type { DataStack } from './data-stack.ts';
import { retentionOf } from './stage-props.ts';

export interface DeliveryLanesProps {
  readonly configuration: StageConfiguration;
  readonly data: DataStack;
  /** The version that receivers see in `User-Agent`. */
  readonly serviceVersion: string;
  /** The topic for notices about events that the `first` lane rejects. */
  readonly rejectedEvents: RejectedEventsTopic;
}

/** The queues of the lanes, their consumers, and the dead-letter queue that they share. */
export interface DeliveryLanes {
  readonly deadLetterQueue: DeadLetterQueue;
  readonly queues: Readonly<Record<Lane, WorkQueue>>;
  readonly consumers: Readonly<Record<Lane, QueueConsumer<z.input<typeof deliverEnvironment>>>>;
}

/** The settings that differ between lanes. */
interface LaneSettings {
  readonly queueId: string;
  readonly functionId: string;
  readonly recursiveLoop?: lambda.RecursiveLoop;
}

const lanes: Readonly<Record<Lane, LaneSettings>> = {
  first: { queueId: 'EventsQueue', functionId: 'DeliverFirst' },
  retry: {
    queueId: 'RetryQueue',
    functionId: 'DeliverRetry',
    // The function sends to its own queue by design. The retry schedule and the 10-day limit end the loop.
    recursiveLoop: lambda.RecursiveLoop.ALLOW,
  },
  slow: {
    queueId: 'SlowQueue',
    functionId: 'DeliverSlow',
    // Retries return through the retry queue. The same limits end this loop of two functions.
    recursiveLoop: lambda.RecursiveLoop.ALLOW,
  },
};

/** One handler serves all lanes. Its environment determines the lane. */
const entry = 'lambdas/delivery/consumer/deliver.handler.ts';

/** Adds a queue and a consumer for each lane. The lanes are bulkheads, so each consumer has its own concurrency. */
export function addDeliveryLanes(scope: Construct, props: DeliveryLanesProps): DeliveryLanes {
  const { configuration } = props;
  const { removalPolicy } = retentionOf(configuration);
  const deadLetterQueue = new DeadLetterQueue(scope, 'DeadLetterQueue', { removalPolicy });
  const addQueue = (lane: Lane): WorkQueue =>
    new WorkQueue(scope, lanes[lane].queueId, { deadLetterQueue, removalPolicy });
  const queues = { first: addQueue('first'), retry: addQueue('retry'), slow: addQueue('slow') };
  const consumers = {
    first: addConsumer(scope, 'first', { deadLetterQueue, queues }, props),
    retry: addConsumer(scope, 'retry', { deadLetterQueue, queues }, props),
    slow: addConsumer(scope, 'slow', { deadLetterQueue, queues }, props),
  };
  props.rejectedEvents.grants.publish(consumers.first);
  return { deadLetterQueue, queues, consumers };
}

function addConsumer(
  scope: Construct,
  lane: Lane,
  { deadLetterQueue, queues }: Pick<DeliveryLanes, 'deadLetterQueue' | 'queues'>,
  { configuration, data, serviceVersion, rejectedEvents }: DeliveryLanesProps,
) {
  const { functionId, recursiveLoop } = lanes[lane];
  const { retry, slow } = queues;
  const deliver = new QueueConsumer<z.input<typeof deliverEnvironment>>(scope, functionId, {
    configuration,
    entry,
    queue: queues[lane],
    maxConcurrency: configuration[`${lane}Concurrency`],
    memorySize: 1024,
    tables: {
      WEBHOOKS_TABLE: data.webhooks.allow('BatchGetItem', 'UpdateItem'),
      DELIVERIES_TABLE: data.deliveries.allow(
        'BatchGetItem',
        'PutItem',
        'UpdateItem',
        ...(lane === 'first' ? (['PartiQLInsert'] as const) : []),
      ),
      KEYRING_TABLE: data.keyring.allowUse({ list: ['encryption'], unwrap: ['encryption'] }),
    },
    environment: {
      ...stageVariables(deliverEnvironment, configuration),
      LANE: lane,
      SLOW_CONCURRENCY: String(configuration.slowConcurrency),
      QUEUE_URL: queues[lane].queueUrl,
      RETRY_QUEUE_URL: retry.queueUrl,
      SLOW_QUEUE_URL: slow.queueUrl,
      DEAD_LETTER_QUEUE_URL: deadLetterQueue.queueUrl,
      REJECTED_EVENTS_TOPIC_ARN: rejectedEvents.topicArn,
      OWN_HOSTS: [...data.auth.hosts, ...data.base.hosts].join(),
      SERVICE_VERSION: serviceVersion,
    },
    recursiveLoop,
  });
  for (const queue of [retry, slow, deadLetterQueue]) queue.grant(deliver, 'sqs:SendMessage');
  return deliver;
}
