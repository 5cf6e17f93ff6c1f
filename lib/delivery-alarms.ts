import { Duration } from 'aws-cdk-lib';
import type { Lane } from '../lambdas/delivery/lane-routing.ts';
import type { DeliveryMetric } from '../lambdas/delivery/telemetry.ts';
import type { StageConfiguration } from './config.ts';
import { type AlarmRule, serviceCount } from './constructs/alarms.ts';
import type { NodeFunction } from './constructs/node-function.ts';
import type { QueueConsumer } from './constructs/queue-consumer.ts';
import type { DeadLetterQueue } from './constructs/work-queue.ts';

/** The resources that the alarms of delivery watch. */
export interface WatchedDelivery {
  readonly configuration: StageConfiguration;
  readonly consumers: Readonly<Record<Lane, QueueConsumer<Record<string, string>>>>;
  readonly deadLetterQueue: DeadLetterQueue;
  readonly sweep: NodeFunction<Record<string, string>>;
  readonly deliveriesApi: NodeFunction<Record<string, string>>;
}

/** The alarms of delivery by their ids. */
export function deliveryAlarms(delivery: WatchedDelivery): Record<string, AlarmRule> {
  const { deadLetterQueue, sweep, deliveriesApi } = delivery;
  return {
    ...laneAlarms('first', 'DeliverFirst', 'deliver-first', delivery),
    ...laneAlarms('retry', 'DeliverRetry', 'deliver-retry', delivery),
    ...laneAlarms('slow', 'DeliverSlow', 'deliver-slow', delivery),
    DeadLetters: {
      description:
        'New messages that Emissor could not process. Their attribute `reason` says why: npm run ops -- dlq list.',
      metric: deadLetterQueue.metricNewMessages(),
      among: 5, // SQS may report a minute late; the alarm is over after five minutes without new ones
    },
    SweepStopped: {
      description: 'The sweeper has not run for five minutes: waits over 15 minutes end late.',
      metric: sweep.metricInvocations({ period: Duration.minutes(5) }),
      below: 1,
    },
    SweepCrashes: { description: 'The sweeper fails or times out.', metric: sweep.metricErrors() },
    DeliveriesApiCrashes: {
      description: 'The deliveries API fails or times out.',
      metric: deliveriesApi.metricErrors(),
    },
  };
}

/** The alarms of one lane; `service` is the name under which its function counts. */
function laneAlarms(
  lane: Lane,
  name: string,
  service: string,
  { configuration, consumers }: WatchedDelivery,
): Record<string, AlarmRule> {
  const consumer = consumers[lane];
  const count = (metric: DeliveryMetric) => serviceCount(configuration, service, metric);
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
      above: toleratedErrors,
    },
    [`${name}Deferred`]: {
      description: 'Messages wait because their outcome cannot be stored: nothing is lost, and little is delivered.',
      metric: count('MessageDeferred'),
      above: toleratedErrors,
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

/** How old a message of each queue may be, in seconds: longer than the longest delay that messages are sent with. */
const backlog: Readonly<Record<Lane, Pick<AlarmRule, 'above' | 'description'>>> = {
  first: { above: 60, description: 'Events wait for their first attempt for over a minute.' },
  retry: {
    above: 15 * 60 + 300,
    description: 'Retries wait five minutes longer than the longest delay of their queue: their consumer is too slow.',
  },
  slow: {
    above: 75 + 300,
    description:
      'Attempts at slow webhooks wait five minutes longer than the longest delay of their queue: their consumer is too slow.',
  },
};
