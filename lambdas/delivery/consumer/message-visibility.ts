import {
  ChangeMessageVisibilityBatchCommand,
  type ChangeMessageVisibilityBatchRequestEntry,
  ChangeMessageVisibilityCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { chunksOf } from '../../platform/in-batches.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { Turn } from '../../platform/timer.ts';
import { storedFromReceive } from '../lanes/admission.ts';
import { maxMessagesOfCall } from '../queues.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/**
 * Leaves messages in their queue for later, by their visibility timeout. It does not store anything and never throws. A message
 * whose timeout could not be changed returns when its original timeout is over.
 */
export interface MessageVisibility {
  /** Defers a message that could not be processed, for longer with each receive. */
  defer(record: SQSRecord, error: unknown): Promise<void>;
  /** Hides a message for a moment. Messages that are hidden together share a call. */
  shed(record: SQSRecord): Promise<void>;
  /** Hides a message for at least this long, because SQS counts whole seconds. */
  hide(record: SQSRecord, milliseconds: number): Promise<void>;
}

/** Returns the known fields of a message's event for the log. Never throws. */
export type DescribeMessage = (record: SQSRecord) => {
  readonly deliveryId?: string | undefined;
  readonly account?: string | undefined;
  readonly event?: string | undefined;
};

export function makeMessageVisibility({
  sqs,
  queueUrl,
  describe,
  turn,
  log,
  count,
}: {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** Until a delivery is stored, only the log has its event. Operators find the line by these ids. */
  readonly describe: DescribeMessage;
  readonly turn: Turn;
} & DeliveryTelemetry): MessageVisibility {
  let together: HiddenMessage[] = [];
  let nextCalls: Promise<void> | undefined;

  return {
    async defer(record, error) {
      const seconds = deferral(receiveCountOf(record));
      const { messageId, receiptHandle } = record;
      count('InternalError');
      log.error('message.deferred', { messageId, ...describe(record), seconds, ...describeError(error) });
      const change = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds };
      try {
        await sqs.send(new ChangeMessageVisibilityCommand(change));
      } catch (failure) {
        warn(record, describeError(failure));
      }
    },

    shed(record) {
      return hideFor(record, shedFor);
    },

    hide(record, milliseconds) {
      return hideFor(record, Math.ceil(milliseconds / 1_000));
    },
  };

  function hideFor(record: SQSRecord, seconds: number): Promise<void> {
    together.push({ record, seconds });
    nextCalls ??= hideTogether();
    return nextCalls;
  }

  async function hideTogether(): Promise<void> {
    await turn(); // messages that were read together are hidden together
    const messages = together;
    together = [];
    nextCalls = undefined;
    await Promise.all(chunksOf(messages, maxMessagesOfCall).map(hide));
  }

  /** Hides messages. A message that the queue rejects is retried once. Otherwise it would stay hidden for its whole visibility timeout. */
  async function hide(messages: readonly HiddenMessage[]): Promise<void> {
    try {
      const refused = await change(messages);
      const again = refused.size > 0 ? await change([...refused.keys()]) : refused;
      for (const [{ record }, code] of again) warn(record, { code });
    } catch (error) {
      for (const { record } of messages) warn(record, describeError(error));
    }
  }

  /** Returns the messages that the queue rejected, with the reason for each. */
  async function change(messages: readonly HiddenMessage[]): Promise<Map<HiddenMessage, string | undefined>> {
    const Entries = messages.map(({ record, seconds }, index): ChangeMessageVisibilityBatchRequestEntry => {
      return { Id: String(index), ReceiptHandle: record.receiptHandle, VisibilityTimeout: seconds };
    });
    const answer = await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
    const failed = (answer.Failed ?? []).flatMap(({ Id, Code }) => {
      const message = messages[Number(Id)];
      return message ? [[message, Code] as const] : [];
    });
    return new Map(failed);
  }

  function warn({ messageId }: SQSRecord, why: object): void {
    log.warn('message.visibility_unchanged', { messageId, ...why });
  }
}

/** The minimum of SQS, in seconds. After that time, receivers that respond have freed slots. */
const shedFor = 1;

/** A message that is about to be hidden, and the time in seconds. */
interface HiddenMessage {
  readonly record: SQSRecord;
  readonly seconds: number;
}

/**
 * Returns the time in seconds for which a message that could not be processed is deferred. It is 5, and doubles from the sixth receive
 * up to 15 min. Earlier receives may have shed the message, whose event is not stored yet and waits for its first attempt.
 */
export function deferral(receiveCount: number): number {
  const doublings = Math.max(0, receiveCount - storedFromReceive.first);
  return Math.min(firstDeferral * 2 ** doublings, maxDeferral) / 1_000;
}

/** Returns how many times a message has been received, including this time. */
export function receiveCountOf({ attributes }: SQSRecord): number {
  return Number(attributes.ApproximateReceiveCount) || 1;
}

/** The first deferral of a message that cannot be processed. It doubles with each receive beyond `storedFromReceive`. */
const firstDeferral = 5_000;

/** The maximum deferral of a message. */
const maxDeferral = 900_000;
