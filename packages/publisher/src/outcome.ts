import type { Result } from './batch.ts';
import type { Finding } from './findings.ts';

/** The outcome of events, each list in their order. */
export interface Outcome {
  readonly sent: readonly SentEvent[];
  readonly refused: readonly RefusedEvent[];
  readonly failed: readonly FailedEvent[];
}

/** An event that the queue has accepted. */
export interface SentEvent {
  /** Its place among the events given, from 0. */
  readonly index: number;
  /** The event's `id`: the caller's, or the one that was made. */
  readonly id: string;
  /** The header `webhook-id` of the deliveries of the event. */
  readonly webhookId: string;
  /** The queue's id of the message. */
  readonly messageId: string;
}

/** An event that is not valid, and was not sent. */
export interface RefusedEvent {
  readonly index: number;
  readonly findings: readonly Finding[];
}

/** An event that could not be sent, or of which it is not known. To publish it again with this `id` does no harm. */
export interface FailedEvent {
  readonly index: number;
  readonly id: string;
  readonly webhookId: string;
  /** The error code of SQS, of the network or of the SDK; `Aborted` where the signal was. */
  readonly code: string;
  /** True when it can succeed later although nobody changes anything. */
  readonly retryable: boolean;
  /** The error that the client threw, or the reason of the signal. It is not enumerable: its text may repeat what was sent. */
  readonly cause?: unknown;
}

/** Returns the outcome of messages and refusals that came in any order. */
export function outcomeOf(results: readonly Result[], refused: readonly RefusedEvent[]): Outcome {
  const sorted = results.toSorted((one, other) => one.message.index - other.message.index);
  return {
    sent: sorted.flatMap(result => (result.status === 'sent' ? sentEvent(result) : [])),
    refused,
    failed: sorted.flatMap(result => (result.status === 'failed' ? failedEvent(result) : [])),
  };
}

/** Returns the report of a message that was sent. */
export function sentEvent({ message, messageId }: Extract<Result, { status: 'sent' }>): SentEvent {
  const { index, id, webhookId } = message;
  return { index, id, webhookId, messageId };
}

/** Returns the report of a message that was not sent. */
export function failedEvent({ message, code, retryable, cause }: Extract<Result, { status: 'failed' }>): FailedEvent {
  const { index, id, webhookId } = message;
  const event = { index, id, webhookId, code, retryable };
  return cause === undefined ? event : Object.defineProperty(event, 'cause', { value: cause });
}
