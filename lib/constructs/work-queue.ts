import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Encrypted by SQS, refuses plain HTTP, keeps messages for 14 days, the most there is. */
export const deadLetterQueue = (scope: Construct, id: string): sqs.Queue =>
  new sqs.Queue(scope, id, {
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
    removalPolicy: RemovalPolicy.RETAIN,
  });

/** What a queue with a consumer needs to know of it. */
export interface WorkQueueProps {
  /** The consuming function's timeout. */
  readonly consumerTimeout: Duration;
  readonly deadLetterQueue: sqs.IQueue;
}

/** Bytes. What is put aside as a dead letter goes with its reason, and has to fit into the 1 MiB that SQS takes. */
const maxMessageSizeBytes = 1_048_576 - 8_192;

/** Receives of one message before SQS itself gives it up: high, since messages wait here while the store is down. */
const maxReceiveCount = 100;

/**
 * A standard queue for one consumer. A message stays hidden for six times the consumer's timeout, as Lambda asks, so
 * that a slow batch is not delivered twice; it is kept for four days, less than the dead-letter queue keeps it, because
 * its age goes with it.
 */
export const workQueue = (scope: Construct, id: string, props: WorkQueueProps): sqs.Queue =>
  new sqs.Queue(scope, id, {
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    visibilityTimeout: Duration.seconds(props.consumerTimeout.toSeconds() * 6),
    retentionPeriod: Duration.days(4),
    maxMessageSizeBytes,
    receiveMessageWaitTime: Duration.seconds(20),
    deadLetterQueue: { queue: props.deadLetterQueue, maxReceiveCount },
    removalPolicy: RemovalPolicy.RETAIN,
  });
