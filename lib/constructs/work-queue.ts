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
 * A standard queue for one consumer. A message stays hidden for 1 minute, the maximum duration of its consumer, so that messages of a
 * crashed process return soon. The retention is the maximum, so that messages survive days without a consumer. A message's age does
 * not restart when SQS moves the message to the dead-letter queue.
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

/** A queue for messages that cannot be processed. */
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

/** The visibility timeout of a received message, and the maximum duration of its consumer's invocation. */
export const visibilityTimeout = Duration.minutes(1);

/** The retention of messages in any queue, which is the maximum of SQS. */
const retentionPeriod = Duration.days(14);

/** The maximum size in bytes. A dead-letter message also contains its reason, and both must fit into the 1 MiB that SQS accepts. */
const maxMessageSizeBytes = 1_048_576 - 8_192;

/** The receives of one message before SQS moves it. The number is high, because messages wait here while the tables are unavailable. */
const maxReceiveCount = 1_000;
