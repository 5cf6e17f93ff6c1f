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
import { admittedFromReceive } from '../lanes/admission.ts';
import { maxMessagesOfCall } from '../queues.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';

/**
 * Hides messages in their queue by changing their visibility timeout. Never throws. If SQS does not change the timeout of a message, the
 * message returns after its original timeout.
 */
export interface MessageVisibility {
  /** Defers a message that could not be processed. The time increases with each receive. */
  defer(record: SQSRecord, error: unknown): Promise<void>;
  /** Hides a message for 1 s. Messages that are hidden together share a call. */
  shed(record: SQSRecord): Promise<void>;
  /** Hides a message for this many milliseconds, rounded up to whole seconds for SQS. */
  hide(record: SQSRecord, milliseconds: number): Promise<void>;
}

/** Returns the valid loggable fields of a message's event. Never throws. */
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
  /** Describes a message for the log. Until a delivery is stored, operators can find its event only by these fields. */
  readonly describe: DescribeMessage;
  readonly turn: Turn;
} & DeliveryTelemetry): MessageVisibility {
  let waiting: HiddenMessage[] = [];
  let nextCalls: Promise<void> | undefined;

  return {
    async defer(record, error) {
      const seconds = deferralSeconds(receiveCountOf(record));
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
      return hideFor(record, shedSeconds);
    },

    hide(record, milliseconds) {
      return hideFor(record, Math.ceil(milliseconds / 1_000));
    },
  };

  function hideFor(record: SQSRecord, seconds: number): Promise<void> {
    waiting.push({ record, seconds });
    nextCalls ??= hideTogether();
    return nextCalls;
  }

  async function hideTogether(): Promise<void> {
    await turn(); // messages from one turn of the event loop share calls
    const messages = waiting;
    waiting = [];
    nextCalls = undefined;
    await Promise.all(chunksOf(messages, maxMessagesOfCall).map(hide));
  }

  /** Hides messages. Retries once if SQS rejects a change, because the message would otherwise stay hidden for its original timeout. */
  async function hide(messages: readonly HiddenMessage[]): Promise<void> {
    try {
      const rejected = await change(messages);
      const unchanged = rejected.size > 0 ? await change([...rejected.keys()]) : rejected;
      for (const [{ record }, code] of unchanged) warn(record, { code });
    } catch (error) {
      for (const { record } of messages) warn(record, describeError(error));
    }
  }

  /** Changes the visibility timeouts. Returns the messages for which SQS rejected the change, with their error codes. */
  async function change(messages: readonly HiddenMessage[]): Promise<Map<HiddenMessage, string | undefined>> {
    const Entries = messages.map(({ record, seconds }, index): ChangeMessageVisibilityBatchRequestEntry => {
      return { Id: String(index), ReceiptHandle: record.receiptHandle, VisibilityTimeout: seconds };
    });
    const output = await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
    const failed = (output.Failed ?? []).flatMap(({ Id, Code }) => {
      const message = messages[Number(Id)];
      return message ? [[message, Code] as const] : [];
    });
    return new Map(failed);
  }

  function warn({ messageId }: SQSRecord, reason: object): void {
    log.warn('message.visibility_unchanged', { messageId, ...reason });
  }
}

/** The time in seconds for which a shed message is hidden. During this time, other attempts may free slots. */
const shedSeconds = 1;

interface HiddenMessage {
  readonly record: SQSRecord;
  readonly seconds: number;
}

/**
 * Returns the time in seconds for which a message that could not be processed is deferred. The time is 5 s, and doubles from the sixth
 * receive up to 15 min. Earlier receives do not double it, because they may have only shed the message.
 */
export function deferralSeconds(receiveCount: number): number {
  const doublings = Math.max(0, receiveCount - admittedFromReceive.first);
  return Math.min(firstDeferral * 2 ** doublings, maxDeferral) / 1_000;
}

/** Returns how many times a message has been received, including this time. */
export function receiveCountOf({ attributes }: SQSRecord): number {
  return Number(attributes.ApproximateReceiveCount) || 1;
}

/** The first deferral of a message, in milliseconds. */
const firstDeferral = 5_000;

/** The maximum deferral of a message, in milliseconds. */
const maxDeferral = 900_000;
