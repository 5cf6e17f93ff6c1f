import type { Finding } from './findings.ts';
import type { FailedEvent, Outcome } from './outcome.ts';

/** The event is not valid: it was not sent. */
export class RefusedEventError extends Error {
  override readonly name = 'RefusedEventError';
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const texts = findings.map(({ field, reason }) => (field ? `${field}: ${reason}` : reason));
    super(`The event was not sent: ${texts.join('; ')}.`);
    this.findings = findings;
  }
}

/** The event could not be sent, or it is not known whether it was. `cause` is what the client threw, or the reason of the signal. */
export class SendError extends Error {
  override readonly name = 'SendError';
  /** The event, by its `id`, and what kept it from being sent. */
  readonly event: FailedEvent;

  constructor(event: FailedEvent) {
    const { code, retryable, cause } = event;
    super(`The event could not be sent: ${code}.${retryable ? ' Publish it again with the same id.' : ''}`, { cause });
    this.event = event;
  }
}

/** `publishAll` ended before its events did; `cause` is why. */
export class InterruptedPublishError extends Error {
  override readonly name = 'InterruptedPublishError';
  /** The outcome of the events that were taken until then. */
  readonly outcome: Outcome;

  constructor(outcome: Outcome, cause: unknown) {
    super('Not all events were published: the outcome tells of those that were taken, the cause why no more were.', {
      cause,
    });
    this.outcome = outcome;
  }
}
