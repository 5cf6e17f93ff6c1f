import { Names } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { NodeFunction, type NodeFunctionProps } from './node-function.ts';
import { visibilityTimeout, type WorkQueue } from './work-queue.ts';

/** The properties of a consumer. The function's timeout is the visibility timeout of the queue. */
export interface QueueConsumerProps<Environment extends Record<string, string>>
  extends Omit<NodeFunctionProps<Environment>, 'timeout'> {
  readonly queue: WorkQueue;
  /** The maximum number of batches that the function processes at once. */
  readonly maxConcurrency: number;
}

/**
 * A function that consumes a queue in batches of 10 and reports the messages that failed. It may receive and delete the queue's messages,
 * and change their visibility timeout. A new version receives all traffic at once.
 */
export class QueueConsumer<Environment extends Record<string, string>> extends NodeFunction<Environment> {
  readonly queue: WorkQueue;

  constructor(scope: Construct, id: string, props: QueueConsumerProps<Environment>) {
    const { queue, maxConcurrency, ...functionProps } = props;
    super(scope, id, { ...functionProps, timeout: visibilityTimeout });
    this.queue = queue;
    new EventSourceMapping(this, `SqsEventSource:${Names.nodeUniqueId(queue.node)}`, {
      target: this.live,
      eventSourceArn: queue.queueArn,
      batchSize: 10,
      reportBatchItemFailures: true,
      maxConcurrency,
    });
    queue.grant(
      this,
      'sqs:ReceiveMessage',
      'sqs:DeleteMessage',
      'sqs:ChangeMessageVisibility',
      'sqs:GetQueueAttributes',
    );
  }
}
