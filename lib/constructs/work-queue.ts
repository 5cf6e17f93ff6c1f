import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

export interface QueueProps {
  readonly removalPolicy: RemovalPolicy;
}

export interface WorkQueueProps extends QueueProps {
  readonly deadLetterQueue: sqs.IQueue;
}

/**
 * A standard queue for one consumer. The visibility timeout is only 1 minute, so messages that a crashed process received reappear soon. The
 * retention period is the maximum, so messages survive days without a consumer. A message's age does not restart when SQS moves the
 * message to the dead-letter queue.
 */
export class WorkQueue extends sqs.Queue {
  constructor(scope: Construct, id: string, { deadLetterQueue, removalPolicy }: WorkQueueProps) {
    super(scope, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout,
      retentionPeriod,
      maxMessageSizeBytes,
      receiveMessageWaitTime: Duration.seconds(20),
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount },
      removalPolicy,
    });
  }
}

/** A queue for messages that consumers could not process. */
export class DeadLetterQueue extends sqs.Queue {
  constructor(scope: Construct, id: string, { removalPolicy }: QueueProps) {
    super(scope, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod,
      removalPolicy,
    });
  }
}

/** The visibility timeout of a message, and the maximum duration of its consumer's invocation. */
export const visibilityTimeout = Duration.minutes(1);

/** The maximum retention period that SQS allows. */
const retentionPeriod = Duration.days(14);

/** The maximum message size. It is 8 KiB less than SQS's limit of 1 MiB, which leaves space for the reason in a dead-letter message. */
const maxMessageSizeBytes = 1_048_576 - 8_192;

/** The number of receives before SQS moves a message. It is high, because consumers receive messages repeatedly during a table outage. */
const maxReceiveCount = 1_000;
