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

type QueueName = 'EventsQueueUrl' | 'RetryQueueUrl' | 'DeadLetterQueueUrl';

/** A message of the dead-letter queue. Copies of one message have the same origin and body. */
export interface DeadLetter {
  readonly origin: Origin;
  readonly body: string;
  /** The reason why the delivery function sent it to the queue, or `null` if SQS moved it after too many receives. */
  readonly reason: RejectedMessage['reason'] | null;
  readonly detail: string | null;
  /** The IAM id of its publisher, or `null` if SQS moved it. */
  readonly sender: string | null;
  readonly receipt: string;
}

export type Queues = ReturnType<typeof openQueues>;

/** The options of a pass through the dead-letter messages. */
interface PassOptions {
  readonly interruption?: AbortSignal | undefined;
  /** Resolves when the caller has finished its work on the messages of this pass. */
  readonly settle?: () => Promise<unknown>;
}

/** Returns the sentence about dead-letter messages in flight elsewhere, which the pass could not receive. */
export function readElsewhere(inFlight: number): string {
  return `another command is reading about ${inFlight} dead-letter messages, which reappear when it ends, or some minutes later if it was killed`;
}

/** Returns the sentence about the messages in the events queue. They have no log line before their first receive. */
export function queuedHint(queued: number | undefined, which: string): string {
  if (queued === undefined) return '. The number of messages in the events queue could not be read';
  if (queued === 0) return '';
  const wait = queued === 1 ? 'message waits' : 'messages wait';
  return `. About ${queued} ${wait} in the events queue, and ${which} may be among them ("status")`;
}

/** Returns the key that copies of a dead-letter message share. The origin alone may be forged. */
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

/** Counts the messages of one of the target's queues. SQS returns approximate counts. */
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
  const urlOf = (queue: QueueName) => requireOutput(target, queue);
  /** The receipts of hidden dead-letter messages and when these messages reappear, soonest first. */
  const held = new Map<string, number>();

  const receive = async (most: number, hiddenSeconds: number): Promise<readonly Message[]> => {
    const until = clock.now() + hiddenSeconds * 1_000;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: urlOf('DeadLetterQueueUrl'),
        MaxNumberOfMessages: Math.min(most, maxBatch),
        VisibilityTimeout: hiddenSeconds,
        WaitTimeSeconds: 1,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    for (const { ReceiptHandle = '' } of Messages) held.set(ReceiptHandle, until);
    return Messages;
  };

  /** Hides dead-letter messages for a time, or shows them. If the call fails, the visibility timeout shows them. */
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

  /** Extends the visibility timeout of messages that would reappear soon. */
  const keepHidden = async (hiddenSeconds: number): Promise<void> => {
    const [now, whole] = [clock.now(), hiddenSeconds * 1_000];
    const [soonest = Number.POSITIVE_INFINITY] = held.values();
    if (soonest - now > whole / 2) return;
    const due = [...held].flatMap(([receipt, until]) => (until - now > (whole * 3) / 4 ? [] : [receipt]));
    for (const receipt of due) {
      held.delete(receipt);
      held.set(receipt, now + whole);
    }
    await hide(due, hiddenSeconds);
  };

  return {
    /** Sends a message in its account's group. Returns its id. `origin` preserves the event of a redriven message. */
    send: async (queue: QueueName, body: string, account: string, origin?: Origin): Promise<string> => {
      const answer = await sqs.send(
        new SendMessageCommand({
          QueueUrl: urlOf(queue),
          MessageBody: body,
          MessageGroupId: account,
          ...(origin && { MessageAttributes: textAttributes(originTexts(origin)) }),
        }),
      );
      return answer.MessageId ?? '';
    },

    /**
     * Receives each dead-letter message once, until the queue is empty or `limit` is reached. Other programs cannot see
     * them meanwhile. Messages that were not removed reappear at the end.
     * @throws {CliError} if messages reappear before all were seen, and the reason of an interruption.
     */
    deadLetters: async function* (
      limit: number,
      { interruption, settle }: PassOptions = {},
    ): AsyncGenerator<DeadLetter> {
      const seen = new Set<string>();
      let seenAgain = 0;
      const { waiting } = await readDepth(target, urlOf('DeadLetterQueueUrl'));
      const count = Math.min(waiting, limit);
      const hiddenSeconds = hiddenFor(count);
      const receiveSome = async () => {
        const calls = Math.min(1 + Math.floor(Math.max(count - seen.size, 0) / 100), callsAtOnce);
        const most = Math.min(limit - seen.size, maxBatch);
        const answers = most === 0 ? [] : Array.from({ length: calls }, () => receive(most, hiddenSeconds));
        await Promise.allSettled(answers); // if one call fails, the messages of all other calls are held
        const messages = (await Promise.all(answers)).flat();
        const fresh = messages.filter(({ MessageId = '' }) => !seen.has(MessageId));
        for (const { MessageId = '' } of messages) seen.add(MessageId);
        seenAgain += messages.length - fresh.length;
        return { fresh, isLast: messages.length === 0 };
      };
      let coming = receiveSome();
      try {
        for (;;) {
          const { fresh, isLast } = await coming;
          if (isLast) return;
          coming = receiveSome(); // while the caller processes these messages
          coming.catch(() => undefined); // it is awaited later
          for (const message of fresh) {
            interruption?.throwIfAborted();
            yield fromMessage(message);
            await keepHidden(hiddenSeconds);
          }
          // Messages that are in flight for too long reappear, perhaps before other messages.
          if (seenAgain > seen.size)
            throw new CliError(`After ${seen.size} messages, SQS returned the same ones again. Repeat the command.`);
        }
      } finally {
        await Promise.allSettled([coming, settle?.()]);
        await hide([...held.keys()], 0);
      }
    },

    /**
     * Returns the approximate number of dead-letter messages in flight. SQS counts with a delay. The smaller of the
     * counts before and after a pass is the number in flight elsewhere. It is certainly 0 only if both counts are 0.
     */
    countInFlight: async () => (await readDepth(target, urlOf('DeadLetterQueueUrl'))).inFlight,

    /** Returns the approximate size of the events queue, or `undefined` if unreadable. Includes messages in flight. */
    countQueued: async (): Promise<number | undefined> => {
      const depth = await readDepth(target, urlOf('EventsQueueUrl')).catch(() => undefined);
      return depth && depth.waiting + depth.inFlight + depth.delayed;
    },

    remove: async ({ receipt }: DeadLetter): Promise<void> => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf('DeadLetterQueueUrl'), ReceiptHandle: receipt }));
      held.delete(receipt);
    },
  };
}

/** The maximum number of entries in an SQS batch. */
const maxBatch = 10;

/** The maximum number of concurrent calls of one kind, if at least 100 messages wait. */
const callsAtOnce = 10;

/**
 * Returns the visibility timeout of received dead-letter messages in seconds, enough for a few thousand. It is renewed
 * if there are more. The messages of a killed command stay hidden for this time.
 */
function hiddenFor(count: number): number {
  return Math.min(Math.ceil(60 + count * secondsToReceive), maxHidden);
}

/** The time per message, since a call takes about 150 ms and returns at most 10 messages. */
const secondsToReceive = 0.1;

/** The maximum timeout, since renewing 100,000 messages takes about 3 minutes. In seconds. */
const maxHidden = 600;

function fromMessage({ MessageId, Body = '', Attributes, MessageAttributes, ReceiptHandle }: Message): DeadLetter {
  const attribute = (name: string) => MessageAttributes?.[name]?.StringValue;
  const reason = refusalOf(attribute('reason'), Body);
  const said = (name: string) => (reason === null ? null : (attribute(name) ?? null));
  return {
    origin: originOf({ messageId: MessageId ?? '', sentTimestamp: Attributes?.SentTimestamp, attribute }),
    body: Body,
    reason,
    detail: said('detail'),
    sender: said('sender'),
    receipt: ReceiptHandle ?? '',
  };
}

/**
 * Returns the reason of a rejected message. A message that SQS moved has the attributes of its publisher, which prove
 * nothing. It has a reason only if the delivery function would reject it.
 */
function refusalOf(reason: string | undefined, body: string): RejectedMessage['reason'] | null {
  const isRefused = parseEventMessage(body, '', 'https://unused.example.com').outcome === 'rejected';
  return isRefused && (reason === 'malformed' || reason === 'unknown_event') ? reason : null;
}
