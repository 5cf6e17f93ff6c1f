import { hash } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { parseEventMessage, type RejectedMessage } from '../../lambdas/delivery/intake/event.ts';
import { type Origin, originOf, originTexts, textAttributes } from '../../lambdas/delivery/intake/origin.ts';
import { type AttemptQueue, makeAttemptQueue } from '../../lambdas/delivery/queues.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { CliError } from './operator.ts';
import { requireOutput, type Target } from './target.ts';

type QueueUrlOutput = 'EventsQueueUrl' | 'RetryQueueUrl' | 'DeadLetterQueueUrl';

/** A message in the dead-letter queue. Copies of one message have the same origin and body. */
export interface DeadLetter {
  readonly origin: Origin;
  readonly body: string;
  /** The reason why the delivery function rejected the message, or `null` if SQS moved it after too many receives. */
  readonly reason: RejectedMessage['reason'] | null;
  readonly detail: string | null;
  /** The IAM id of the publisher, or `null` if SQS moved the message. */
  readonly sender: string | null;
  readonly receipt: string;
}

export type Queues = ReturnType<typeof openQueues>;

/** The options for a pass through the dead-letter messages. */
interface PassOptions {
  readonly interruption?: AbortSignal | undefined;
  /** Resolves when the caller has processed the messages of this pass. */
  readonly settle?: () => Promise<unknown>;
}

/** Returns a clause about the dead-letter messages that another command has in flight. */
export function inFlightElsewhere(inFlight: number): string {
  return `another command is reading about ${inFlight} dead-letter messages, which reappear when it ends, or some minutes later if it was killed`;
}

/** Returns a sentence about the messages in the events queue. A message has no log line before its first receive. */
export function queuedHint(queued: number | undefined, which: string): string {
  if (queued === undefined) return '. The number of messages in the events queue could not be read';
  if (queued === 0) return '';
  const wait = queued === 1 ? 'message waits' : 'messages wait';
  return `. About ${queued} ${wait} in the events queue, and ${which} may be among them ("status")`;
}

/** Returns a key that is equal for copies of one dead-letter message. The key includes the body, because an origin may be forged. */
export function copyKey({ origin, body }: Pick<DeadLetter, 'origin' | 'body'>): string {
  return hash('sha256', JSON.stringify([origin.messageId, body]));
}

export function openRetryQueue(target: Target): AttemptQueue {
  return makeAttemptQueue({
    sqs: target.connect(SQSClient, 'SqsEndpoint'),
    queueUrl: requireOutput(target, 'RetryQueueUrl'),
    now: target.clock.now,
    turn: systemTime.turn,
  });
}

/** Returns the approximate numbers of messages in a queue. */
export async function readDepth(target: Target, queueUrl: string) {
  const sqs = target.connect(SQSClient, 'SqsEndpoint');
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  return {
    waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
    delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0),
  };
}

export function openQueues(target: Target) {
  const { clock } = target;
  const sqs = target.connect(SQSClient, 'SqsEndpoint');
  const urlOf = (queue: QueueUrlOutput) => requireOutput(target, queue);
  /** The receipts of hidden dead-letter messages, with the times at which the messages reappear, soonest first. */
  const hidden = new Map<string, number>();

  const receive = async (limit: number, hiddenSeconds: number): Promise<readonly Message[]> => {
    const until = clock.now() + hiddenSeconds * 1_000;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: urlOf('DeadLetterQueueUrl'),
        MaxNumberOfMessages: Math.min(limit, maxBatch),
        VisibilityTimeout: hiddenSeconds,
        WaitTimeSeconds: 1,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    for (const { ReceiptHandle = '' } of Messages) hidden.set(ReceiptHandle, until);
    return Messages;
  };

  /** Sets the visibility timeout of dead-letter messages. If a call fails, their previous timeout applies. */
  const hide = async (receipts: readonly string[], VisibilityTimeout: number): Promise<void> => {
    const batches = inBatches(receipts, maxBatch);
    const QueueUrl = urlOf('DeadLetterQueueUrl');
    const work = async () => {
      for await (const some of batches) {
        const Entries = some.map((ReceiptHandle, index) => ({ Id: `${index}`, ReceiptHandle, VisibilityTimeout }));
        await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: callsAtOnce }, work));
  };

  /** Extends the visibility timeout of received messages that would reappear soon. */
  const keepHidden = async (hiddenSeconds: number): Promise<void> => {
    const [now, whole] = [clock.now(), hiddenSeconds * 1_000];
    const [soonest = Number.POSITIVE_INFINITY] = hidden.values();
    if (soonest - now > whole / 2) return;
    const due = [...hidden].flatMap(([receipt, until]) => (until - now > (whole * 3) / 4 ? [] : [receipt]));
    for (const receipt of due) {
      hidden.delete(receipt);
      hidden.set(receipt, now + whole);
    }
    await hide(due, hiddenSeconds);
  };

  return {
    /** Sends a message in an account's message group, and returns its id. `origin` preserves the identity of a redriven event. */
    send: async (queue: QueueUrlOutput, body: string, account: string, origin?: Origin): Promise<string> => {
      const { MessageId = '' } = await sqs.send(
        new SendMessageCommand({
          QueueUrl: urlOf(queue),
          MessageBody: body,
          MessageGroupId: account,
          ...(origin && { MessageAttributes: textAttributes(originTexts(origin)) }),
        }),
      );
      return MessageId;
    },

    /**
     * Receives each dead-letter message once, until the queue is empty or `limit` is reached. Hides received messages from
     * other programs. When the iteration ends, messages that were not removed become visible again.
     * @throws {CliError} if messages reappear before all are received, and the reason for an interruption.
     */
    deadLetters: async function* (
      limit: number,
      { interruption, settle }: PassOptions = {},
    ): AsyncGenerator<DeadLetter> {
      const receivedIds = new Set<string>();
      let repeatCount = 0;
      const { waiting } = await readDepth(target, urlOf('DeadLetterQueueUrl'));
      const count = Math.min(waiting, limit);
      const hiddenSeconds = hiddenFor(count);
      const receiveNext = async () => {
        const calls = Math.min(1 + Math.floor(Math.max(count - receivedIds.size, 0) / 100), callsAtOnce);
        const batch = Math.min(limit - receivedIds.size, maxBatch);
        const responses = batch === 0 ? [] : Array.from({ length: calls }, () => receive(batch, hiddenSeconds));
        await Promise.allSettled(responses); // if one call fails, the receipts of all other calls are recorded
        const messages = (await Promise.all(responses)).flat();
        const unseen = messages.filter(({ MessageId = '' }) => !receivedIds.has(MessageId));
        for (const { MessageId = '' } of messages) receivedIds.add(MessageId);
        repeatCount += messages.length - unseen.length;
        return { unseen, isLast: messages.length === 0 };
      };
      let next = receiveNext();
      try {
        for (;;) {
          const { unseen, isLast } = await next;
          if (isLast) return;
          next = receiveNext(); // while the caller processes these messages
          next.catch(() => undefined); // awaited later
          for (const message of unseen) {
            interruption?.throwIfAborted();
            yield fromMessage(message);
            await keepHidden(hiddenSeconds);
          }
          // Messages that are in flight for too long reappear, possibly before other messages.
          if (repeatCount > receivedIds.size)
            throw new CliError(`After ${receivedIds.size} messages, SQS returned them again. Run the command again.`);
        }
      } finally {
        await Promise.allSettled([next, settle?.()]);
        await hide([...hidden.keys()], 0);
      }
    },

    /**
     * Returns the approximate number of dead-letter messages in flight. SQS updates it with a delay. The smaller of the counts
     * before and after a pass estimates how many messages other commands have in flight. They have none only if both are 0.
     */
    countInFlight: async () => (await readDepth(target, urlOf('DeadLetterQueueUrl'))).inFlight,

    /** Returns the approximate size of the events queue, including messages in flight, or `undefined` if the read fails. */
    countQueued: async (): Promise<number | undefined> => {
      const depth = await readDepth(target, urlOf('EventsQueueUrl')).catch(() => undefined);
      return depth && depth.waiting + depth.inFlight + depth.delayed;
    },

    remove: async ({ receipt }: DeadLetter): Promise<void> => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf('DeadLetterQueueUrl'), ReceiptHandle: receipt }));
      hidden.delete(receipt);
    },
  };
}

/** The maximum number of entries in an SQS batch. */
const maxBatch = 10;

/** The maximum number of concurrent calls per kind. */
const callsAtOnce = 10;

/**
 * Returns the visibility timeout for received dead-letter messages in seconds. It suffices for a few thousand messages.
 * Longer passes extend it. If the command is killed, the messages stay hidden until the timeout expires.
 */
function hiddenFor(count: number): number {
  return Math.min(Math.ceil(60 + count * secondsToReceive), maxHidden);
}

/** The time to receive one message, in seconds. A call takes about 150 ms and returns at most 10 messages. */
const secondsToReceive = 0.1;

/** The maximum timeout, in seconds. Extending the timeout of 100,000 messages takes about 3 minutes. */
const maxHidden = 600;

function fromMessage({ MessageId, Body = '', Attributes, MessageAttributes, ReceiptHandle }: Message): DeadLetter {
  const attribute = (name: string) => MessageAttributes?.[name]?.StringValue;
  const reason = rejectionReason(attribute('reason'), Body);
  const trusted = (name: string) => (reason === null ? null : (attribute(name) ?? null));
  return {
    origin: originOf({ messageId: MessageId ?? '', sentTimestamp: Attributes?.SentTimestamp, attribute }),
    body: Body,
    reason,
    detail: trusted('detail'),
    sender: trusted('sender'),
    receipt: ReceiptHandle ?? '',
  };
}

/**
 * Returns the reason why a message was rejected. A message that SQS moved keeps its publisher's attributes, which may be
 * forged. The attribute `reason` is trusted only if the delivery function would reject the body.
 */
function rejectionReason(reason: string | undefined, body: string): RejectedMessage['reason'] | null {
  const isRejected = parseEventMessage(body, '', 'https://unused.example.com').outcome === 'rejected';
  return isRejected && (reason === 'malformed' || reason === 'unknown_event') ? reason : null;
}
