import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Encrypted by SQS, refuses plain HTTP, keeps messages for 14 days, the most there is. */
export function deadLetterQueue(scope: Construct, id: string): sqs.Queue {
  return new sqs.Queue(scope, id, {
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
    removalPolicy: RemovalPolicy.RETAIN,
  });
}

/**
 * Whether messages came to a dead-letter queue in a minute: above zero for that minute, and zero again whatever stays
 * there, so that the alarm on it goes quiet by itself and an old message hides no new one.
 *
 * No metric counts them all. `NumberOfMessagesSent` has what was sent to the queue, by our functions, but not what SQS
 * moves there after too many receives. That shows as a growth of what the queue holds: of what is seen and what is in
 * somebody's hands together, so that `dlq list`, which takes messages in hand, is no growth. Growth alone would miss what
 * comes in a minute in which as much is removed.
 *
 * A queue that was empty and left alone for six hours reports nothing. `FILL` makes that a zero, or the first message
 * after it would have no value to grow from.
 */
export function newLetters(queue: sqs.IQueue): cloudwatch.IMetric {
  const period = Duration.minutes(1); // in which SQS reports each number once
  return new cloudwatch.MathExpression({
    label: 'New dead letters',
    expression: 'FILL(sent, 0) + IF(DIFF(FILL(seen, 0) + FILL(inHand, 0)) > 0, 1, 0)',
    usingMetrics: {
      sent: queue.metricNumberOfMessagesSent({ period, statistic: 'Sum' }),
      seen: queue.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
      inHand: queue.metricApproximateNumberOfMessagesNotVisible({ period, statistic: 'Maximum' }),
    },
    period,
  });
}

/** What a queue with a consumer needs to know of it. */
export interface WorkQueueProps {
  /** The consuming function's timeout. */
  readonly consumerTimeout: Duration;
  readonly deadLetterQueue: sqs.IQueue;
}

/**
 * A standard queue for one consumer. A message stays hidden for six times the consumer's timeout, as Lambda asks, so
 * that a slow batch is not delivered twice; it is kept for four days, less than the dead-letter queue keeps it, because
 * its age goes with it.
 */
export function workQueue(scope: Construct, id: string, props: WorkQueueProps): sqs.Queue {
  return new sqs.Queue(scope, id, {
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    visibilityTimeout: Duration.seconds(props.consumerTimeout.toSeconds() * 6),
    retentionPeriod: Duration.days(4),
    maxMessageSizeBytes,
    receiveMessageWaitTime: Duration.seconds(20),
    deadLetterQueue: { queue: props.deadLetterQueue, maxReceiveCount },
    removalPolicy: RemovalPolicy.RETAIN,
  });
}

/** Bytes. What is put aside as a dead letter goes with its reason, and has to fit into the 1 MiB that SQS takes. */
const maxMessageSizeBytes = 1_048_576 - 8_192;

/** Receives of one message before SQS itself gives it up: high, since messages wait here while the store is down. */
const maxReceiveCount = 100;
