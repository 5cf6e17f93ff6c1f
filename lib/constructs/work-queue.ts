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
 * A standard queue for one consumer. A message stays hidden for a minute, as long as its consumer runs at most: the messages of a process
 * that died come back soon. It keeps messages as long as SQS allows: what cannot be consumed for days is not lost. A message keeps its age when
 * SQS moves it to the dead-letter queue.
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

/** The time that a message that was received stays hidden, and that an invocation of its consumer may take. */
export const visibilityTimeout = Duration.minutes(1);

/** The time that any queue keeps a message: the most that SQS allows. */
const retentionPeriod = Duration.days(14);

/** A dead letter is sent on with its reason, and both must fit into the 1 MiB that SQS accepts. In bytes. */
const maxMessageSizeBytes = 1_048_576 - 8_192;

/** Receives of one message before SQS itself moves it: many, because messages wait here while the tables are unreachable. */
const maxReceiveCount = 1_000;
