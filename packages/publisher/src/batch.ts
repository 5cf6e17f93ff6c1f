import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Message } from './message.ts';

/** The most messages that SQS takes in a request. Ten of ours are 80 KiB at most, of the 1 MiB that it takes. */
export const batchSize = 10;

/** The queue, and how it is sent to. */
export interface Queue {
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** The most times that a message is sent while the queue refuses it for the moment. */
  readonly attempts: number;
}

/** The outcome of a message. */
export type Result = { readonly status: 'sent'; readonly message: Message; readonly messageId: string } | Failure;

/** A message that was not sent, or of which it is not known. */
interface Failure {
  readonly status: 'failed';
  readonly message: Message;
  readonly code: string;
  readonly retryable: boolean;
  /** The error that the client threw, or the reason of the signal. */
  readonly cause?: unknown;
}

/**
 * Sends up to ten messages, each in the group of its account. Messages that the queue refuses for the moment are sent again, after
 * a wait that doubles. A request that fails as a whole is not: the client has repeated it. Never rejects.
 */
export async function sendBatch(queue: Queue, messages: readonly Message[], signal?: AbortSignal): Promise<Result[]> {
  const results: Result[] = [];
  let waiting = messages;
  for (let attempt = 1; ; attempt += 1) {
    const answered = await send(queue, waiting, signal);
    const refused = answered.filter(result => result.status === 'refused');
    results.push(...answered.filter(result => result.status !== 'refused'));
    if (refused.length === 0) return results;
    const last = attempt === queue.attempts || !(await waited(attempt, signal));
    if (last) {
      const failures = refused.map(({ message, code }) =>
        signal?.aborted ? failure(message, aborted, true, signal.reason) : failure(message, code, true),
      );
      return [...results, ...failures];
    }
    waiting = refused.map(({ message }) => message);
  }
}

/** The code of what an `AbortSignal` has stopped. */
export const aborted = 'Aborted';

/** A message that the queue refused without its being the message's fault. */
interface Refusal {
  readonly status: 'refused';
  readonly message: Message;
  readonly code: string;
}

async function send({ client, queueUrl }: Queue, messages: readonly Message[], signal: AbortSignal | undefined) {
  const Entries = messages.map(({ account, body }, position) => ({
    Id: String(position),
    MessageBody: body,
    MessageGroupId: account,
  }));
  try {
    signal?.throwIfAborted();
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries });
    const { Successful = [], Failed = [] } = await client.send(command, { abortSignal: signal });
    return messages.map((message, position): Result | Refusal => {
      const messageId = Successful.find(({ Id }) => Id === String(position))?.MessageId;
      if (messageId !== undefined) return { status: 'sent', message, messageId };
      const { Code: code = 'Unanswered', SenderFault } = Failed.find(({ Id }) => Id === String(position)) ?? {};
      const isFinal = SenderFault && !code.includes('Throttl'); // SQS calls throttling the sender's fault
      return isFinal ? failure(message, code, false) : { status: 'refused', message, code };
    });
  } catch (error) {
    return messages.map(message =>
      signal?.aborted
        ? failure(message, aborted, true, signal.reason)
        : failure(message, codeOf(error), canPass(error), error),
    );
  }
}

function failure(message: Message, code: string, retryable: boolean, cause?: unknown): Failure {
  return { status: 'failed', message, code, retryable, cause };
}

/** Waits up to 0.1 s, 0.2 s, 0.4 s, … and 5 s at most. Returns whether it was not aborted meanwhile. */
async function waited(attempt: number, signal: AbortSignal | undefined): Promise<boolean> {
  const longest = Math.min(100 * 2 ** (attempt - 1), 5_000);
  try {
    await pause(longest * (0.5 + Math.random() / 2), undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** Returns the error's code or name; never its text, which could repeat what was sent. */
function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string') return code;
  return typeof name === 'string' ? name : 'Error';
}

/** Returns whether a request that failed as a whole can succeed later although nobody changes anything. */
function canPass(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  const code = codeOf(error);
  if (status !== undefined) return status >= 500 || status === 429 || code.includes('Throttl');
  return code === 'TimeoutError' || /^E(?:AI_)?[A-Z0-9]+$/.test(code); // such as ECONNRESET and EAI_AGAIN
}
