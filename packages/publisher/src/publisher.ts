import { randomUUID } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { abortable } from './abortable.ts';
import { aborted, type Result, sendBatch } from './batch.ts';
import { InterruptedPublishError, RefusedEventError, SendError } from './errors.ts';
import type { BusinessEvent } from './events.ts';
import { findingsOf } from './findings.ts';
import { type Message, messageOf } from './message.ts';
import { failedEvent, type Outcome, outcomeOf, type RefusedEvent, type SentEvent, sentEvent } from './outcome.ts';
import { makeSender } from './sender.ts';

/** The options of a publisher: where it sends, and how. */
export interface PublisherOptions {
  /** The address of the events queue: the service's output `EventsQueueUrl`. Without one no publisher is made. */
  readonly queueUrl: string | undefined;
  /** Default: one with the settings of the environment. It repeats requests that fail as a whole, as it is set up to. */
  readonly client?: SQSClient | undefined;
  /** The most times that a message is sent while the queue refuses it for the moment. Default: 5. */
  readonly attempts?: number | undefined;
  /** The most requests, of up to ten messages each, that are under way at once. Default: 5. */
  readonly concurrency?: number | undefined;
}

/** The options of a call: the signal ends it early. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Publishes events to the events queue. */
export interface Publisher {
  /**
   * Publishes one event.
   *
   * @throws {RefusedEventError} when it is not valid: it was not sent.
   * @throws {SendError} when it could not be sent, or the signal was aborted before the queue had answered.
   */
  publish(event: BusinessEvent, options?: CallOptions): Promise<SentEvent>;

  /**
   * Publishes any number of events, ten a request. Each is judged for itself: one that is not valid keeps no other from being
   * sent. Events wait until ten are together or there are no more: publish those that come slowly one by one.
   *
   * @throws {InterruptedPublishError} when the signal was aborted or the iterable threw.
   * @throws {TypeError} when it is given no iterable, such as one event.
   */
  publishAll(events: Iterable<BusinessEvent> | AsyncIterable<BusinessEvent>, options?: CallOptions): Promise<Outcome>;
}

/**
 * Makes a publisher.
 *
 * @throws {TypeError} when an option cannot be used.
 */
export function createPublisher({ queueUrl = '', client, attempts = 5, concurrency = 5 }: PublisherOptions): Publisher {
  if (!URL.canParse(queueUrl)) throw new TypeError('queueUrl must be the address of the events queue.');
  for (const [name, count] of Object.entries({ attempts, concurrency })) {
    if (!Number.isInteger(count) || count < 1) throw new TypeError(`${name} must be a whole number from 1.`);
  }
  if (client !== undefined && typeof client.send !== 'function') {
    throw new TypeError('client must be an SQSClient of @aws-sdk/client-sqs.');
  }
  const requestHandler = { connectionTimeout: 3_000, socketTimeout: 10_000 }; // the SDK itself would wait without end
  const queue = { client: client ?? new SQSClient({ requestHandler }), queueUrl, attempts };

  async function publish(event: BusinessEvent, { signal }: CallOptions = {}): Promise<SentEvent> {
    const prepared = prepare(event, 0);
    if ('findings' in prepared) throw new RefusedEventError(prepared.findings);
    const [result] = (await sendBatch(queue, [prepared], signal)) as [Result];
    if (result.status === 'failed') throw new SendError(failedEvent(result));
    return sentEvent(result);
  }

  async function publishAll(
    events: Iterable<BusinessEvent> | AsyncIterable<BusinessEvent>,
    { signal }: CallOptions = {},
  ): Promise<Outcome> {
    if (!isIterable(events)) throw new TypeError('events must be an array, or another iterable or async iterable.');
    const refused: RefusedEvent[] = [];
    const sender = makeSender(queue, concurrency, signal);
    let interruption: { readonly cause: unknown } | undefined;
    try {
      let index = 0;
      for await (const event of abortable(events, signal)) {
        const prepared = prepare(event, index);
        if ('findings' in prepared) refused.push(prepared);
        else await sender.add(prepared);
        index += 1;
      }
    } catch (cause) {
      interruption = { cause };
    }

    const results = await sender.finish(); // also of what was taken before an interruption
    const outcome = outcomeOf(results, refused);
    if (outcome.failed.some(({ code }) => code === aborted)) interruption ??= { cause: signal?.reason };
    if (interruption) throw new InterruptedPublishError(outcome, interruption.cause);
    return outcome;
  }

  return { publish, publishAll };
}

/** A text is no iterable of events. */
function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

/** Returns the message of an event, or what keeps it from being one. Each field is read once. */
function prepare(given: BusinessEvent, index: number): Message | RefusedEvent {
  const event = typeof given === 'object' && given !== null && !Array.isArray(given) ? { ...given } : given;
  const findings = findingsOf(event);
  return findings.length > 0 ? { index, findings } : messageOf(event, index, randomUUID);
}
