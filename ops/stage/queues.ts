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

/** A message of the dead-letter queue. Copies that were put there of one message have the same origin and body. */
export interface DeadLetter {
  readonly origin: Origin;
  readonly body: string;
  /** The reason why the delivery function sent it there; `null` where SQS moved it after too many receives. */
  readonly reason: RejectedMessage['reason'] | null;
  readonly detail: string | null;
  /** The IAM id of its publisher; `null` where SQS moved it. */
  readonly sender: string | null;
  readonly receipt: string;
}

export type Queues = ReturnType<typeof openQueues>;

/** Options of a pass through the dead letters. */
interface Look {
  readonly interruption?: AbortSignal | undefined;
  /** Resolves when nobody works on letters any more that this look gave. */
  readonly settle?: () => Promise<unknown>;
}

/** Returns the sentence about dead letters that others have in flight: nobody may say that there are none. */
export function lookedAt(inFlight: number): string {
  return `another command is reading about ${inFlight} dead-letter messages, which reappear when it ends, or some minutes later if it was killed`;
}

/** Returns the sentence about the messages in the events queue. No line of the log tells of one before a function receives it. */
export function standInQueue(queued: number | undefined, which: string): string {
  if (queued === undefined) return '. The number of messages in the events queue could not be read';
  if (queued === 0) return '';
  const wait = queued === 1 ? 'message waits' : 'messages wait';
  return `. About ${queued} ${wait} in the events queue, and ${which} may be among them ("status")`;
}

/** Returns what the copies of a dead letter share. An origin alone may be forged: it is an attribute of the message. */
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

/** Counts the messages of one of the target's queues, as SQS counts them: approximately. */
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
  /** The receipts of dead letters that are hidden from others, and when they show again, the soonest first. */
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

  /** Hides dead letters for that long from now on, or shows them. If that fails, their visibility timeout shows them. */
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

  /** Hides those longer that would show soon. */
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
    /** Sends a message in the group of its account. Returns the message id. `origin` keeps a redriven message the same event. */
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
     * Receives dead letters, each once, until the queue shows no more or `limit` is reached. Meanwhile nobody else sees them;
     * at the end those that were not removed show again at once.
     *
     * @throws {CliError} when letters show again before all were seen, and the reason of an interruption.
     */
    deadLetters: async function* (limit: number, { interruption, settle }: Look = {}): AsyncGenerator<DeadLetter> {
      const seen = new Set<string>();
      let seenAgain = 0;
      const { waiting } = await readDepth(target, urlOf('DeadLetterQueueUrl'));
      const count = Math.min(waiting, limit);
      const hiddenSeconds = hiddenFor(count);
      const receiveSome = async () => {
        const calls = Math.min(1 + Math.floor(Math.max(count - seen.size, 0) / 100), callsAtOnce);
        const most = Math.min(limit - seen.size, maxBatch);
        const answers = most === 0 ? [] : Array.from({ length: calls }, () => receive(most, hiddenSeconds));
        await Promise.allSettled(answers); // where one fails, the letters of all others are held
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
          coming = receiveSome(); // while the caller works on these
          coming.catch(() => undefined); // it is awaited later
          for (const message of fresh) {
            interruption?.throwIfAborted();
            yield fromMessage(message);
            await keepHidden(hiddenSeconds);
          }
          // Those that are in flight for too long show again, perhaps before others.
          if (seenAgain > seen.size)
            throw new CliError(`After ${seen.size} messages, SQS returned the same ones again. Repeat the command.`);
        }
      } finally {
        await Promise.allSettled([coming, settle?.()]);
        await hide([...held.keys()], 0);
      }
    },

    /**
     * Returns about how many dead letters are in flight. SQS counts late: of two counts, before and after work of one's own, the
     * smaller one is what others have in flight. Who says that there is no letter takes the greater one: others may have hidden it
     * before or meanwhile.
     */
    countInFlight: async () => (await readDepth(target, urlOf('DeadLetterQueueUrl'))).inFlight,

    /** Returns about how many messages the events queue has, where it may be read. A lane that is throttled has received some of them. */
    countQueued: async (): Promise<number | undefined> => {
      const depth = await readDepth(target, urlOf('EventsQueueUrl')).catch(() => undefined);
      return depth && depth.waiting + depth.inFlight + depth.delayed;
    },

    /** Deletes a dead letter. */
    remove: async ({ receipt }: DeadLetter): Promise<void> => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf('DeadLetterQueueUrl'), ReceiptHandle: receipt }));
      held.delete(receipt);
    },
  };
}

/** The most entries of a batch in SQS. */
const maxBatch = 10;

/** Calls of one kind that are under way at once, where a hundred letters or more wait. */
const callsAtOnce = 10;

/**
 * Returns the visibility timeout of received dead letters, in seconds: what it takes to go through a few thousand. It is renewed as long
 * as there are more. Those of a command that was killed stay hidden for as long.
 */
function hiddenFor(count: number): number {
  return Math.min(Math.ceil(60 + count * secondsToReceive), maxHidden);
}

/** Ten come with a call of some 150 ms, or fewer. */
const secondsToReceive = 0.1;

/** Renewing 100,000 takes some three minutes. In seconds. */
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
 * Why a message was refused. A message that SQS moved still has its publisher's attributes, which prove nothing: only one
 * that the delivery function would refuse has a reason.
 */
function refusalOf(reason: string | undefined, body: string): RejectedMessage['reason'] | null {
  const isRefused = parseEventMessage(body, '', 'https://unused.example.com').outcome === 'rejected';
  return isRefused && (reason === 'malformed' || reason === 'unknown_event') ? reason : null;
}
