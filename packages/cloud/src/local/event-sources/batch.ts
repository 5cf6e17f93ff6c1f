import type { Message } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSMessageAttributes, SQSRecord, SQSRecordAttributes } from 'aws-lambda';
import * as z from 'zod';
import { region } from '../assembly/identities.ts';
import type { InvocationOutcome } from '../lambda/invocation.ts';

/** Returns the event that Lambda makes of messages received from a queue. */
export function queueEvent(messages: readonly Message[], queueArn: string): SQSEvent {
  return {
    Records: messages.map(message => recordOf(message, queueArn)),
  };
}

/**
 * The messages of a batch that succeeded and are deleted, as Lambda's event source mapping decides it.
 *
 * With `ReportBatchItemFailures`, an empty or absent list (or an empty answer) means that all succeeded; an answer that
 * is malformed, or names an empty or unknown message, fails the whole batch. Without it, only an error fails a batch.
 */
export function succeeded(
  messageIds: readonly string[],
  result: InvocationOutcome,
  reportsItemFailures: boolean,
): readonly string[] {
  if (result.outcome === 'failed') return [];
  if (!reportsItemFailures) return messageIds;
  let answer: unknown;
  try {
    answer = JSON.parse(result.payload);
  } catch {
    return [];
  }
  if (answer === null || answer === '') return messageIds;
  const { success, data } = partialResponse.safeParse(answer);
  if (!success) return [];
  const failed = new Set((data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  if ([...failed].some(id => !messageIds.includes(id))) return [];
  return messageIds.filter(id => !failed.has(id));
}

function recordOf(message: Message, queueArn: string): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: systemAttributesOf(message),
    messageAttributes: attributesOf(message),
    ...(message.MD5OfMessageAttributes === undefined ? {} : { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}

/** A queue gives these four with every message, once it is asked for all. */
function systemAttributesOf({ Attributes = {} }: Message): SQSRecordAttributes {
  const {
    ApproximateReceiveCount = '',
    ApproximateFirstReceiveTimestamp = '',
    SenderId = '',
    SentTimestamp = '',
    ...others
  } = Attributes;
  return { ApproximateReceiveCount, ApproximateFirstReceiveTimestamp, SenderId, SentTimestamp, ...others };
}

function attributesOf({ MessageAttributes = {} }: Message): SQSMessageAttributes {
  return Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { StringValue, BinaryValue, DataType = 'String' }]) => [
      name,
      {
        ...(StringValue === undefined ? {} : { stringValue: StringValue }),
        ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
        stringListValues: [],
        binaryListValues: [],
        dataType: DataType,
      },
    ]),
  );
}

const partialResponse = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});
