// The exports of the package.
export { InterruptedPublishError, RefusedEventError, SendError } from './errors.ts';
export type * from './events.ts';
export { type Finding, findingsOf } from './findings.ts';
export { webhookIdOf } from './message.ts';
export type { FailedEvent, Outcome, RefusedEvent, SentEvent } from './outcome.ts';
export { type CallOptions, createPublisher, type Publisher, type PublisherOptions } from './publisher.ts';
