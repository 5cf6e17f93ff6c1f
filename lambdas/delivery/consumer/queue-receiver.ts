import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { chunksOf } from '../../platform/in-batches.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/** The maximum number of messages that one call receives or deletes. */
export const receiveBatch = 10;

export function makeQueueReceiver({
  sqs,
  queueUrl,
  visibilityMs,
  log,
}: {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** The visibility timeout of a received message, in milliseconds. If the process dies, the message returns after this time. */
  readonly visibilityMs: number;
  readonly log: DeliveryTelemetry['log'];
}) {
  return { receive, deleteAll };

  /** Receives up to ten messages without waiting. Never throws. */
  async function receive(): Promise<SQSRecord[]> {
    try {
      const output = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: receiveBatch,
          VisibilityTimeout: Math.ceil(visibilityMs / 1_000),
          WaitTimeSeconds: 0, // a longer wait would prolong the batch, which is billed
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        }),
      );
      return (output.Messages ?? []).map(toRecord);
    } catch (error) {
      log.warn('message.not_received', describeError(error));
      return [];
    }
  }

  /** Deletes messages in calls of ten. A message that was not deleted returns later and is dropped as stale. Never throws. */
  async function deleteAll(records: readonly SQSRecord[]): Promise<void> {
    await Promise.all(chunksOf(records, receiveBatch).map(deleteBatch));
  }

  async function deleteBatch(records: readonly SQSRecord[]): Promise<void> {
    const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
    try {
      const { Failed = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      for (const { Id, Code } of Failed) {
        log.warn('message.not_deleted', { messageId: records[Number(Id)]?.messageId, code: Code });
      }
    } catch (error) {
      for (const { messageId } of records) log.warn('message.not_deleted', { messageId, ...describeError(error) });
    }
  }
}

/** Converts a received message to the form that Lambda passes to handlers. */
function toRecord({ MessageId, ReceiptHandle, Body, Attributes = {}, MessageAttributes = {} }: Message): SQSRecord {
  const {
    ApproximateReceiveCount = '',
    SentTimestamp = '',
    SenderId = '',
    ApproximateFirstReceiveTimestamp = '',
    ...others
  } = Attributes;
  const messageAttributes = Object.entries(MessageAttributes).map(([name, { DataType, StringValue }]) => {
    const value = StringValue === undefined ? {} : { stringValue: StringValue };
    return [name, { dataType: DataType ?? 'String', ...value }];
  });
  return {
    messageId: MessageId ?? '',
    receiptHandle: ReceiptHandle ?? '',
    body: Body ?? '',
    attributes: { ...others, ApproximateReceiveCount, SentTimestamp, SenderId, ApproximateFirstReceiveTimestamp },
    messageAttributes: Object.fromEntries(messageAttributes),
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: '',
    awsRegion: '',
  };
}
