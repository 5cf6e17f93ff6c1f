import type { EventSource } from '../../sqs/event-source.ts';

/** A function. `Runtime` is all that leads out of a process. */
export interface FunctionDefinition<Runtime> {
  readonly name: string;
  /** Makes the handler of a new process. */
  readonly start: (runtime: Runtime) => Handler | Promise<Handler>;
  /** Milliseconds, after which Lambda kills the process. */
  readonly timeout: number;
  /** The processes that it has at most. */
  readonly concurrency?: number;
  readonly sources?: readonly EventSourceDefinition[];
  /** Milliseconds: each minute, for one. The first time is one period after the start. */
  readonly schedule?: { readonly every: number };
}

/** A handler. As a method it may ask for an event of its own type. */
export type Handler = { handle(event: unknown, context: InvocationContext): unknown }['handle'];

/** What a handler is given beside its event. */
export interface InvocationContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly getRemainingTimeInMillis: () => number;
}

/** What became of an invocation. */
export type Outcome =
  | { readonly status: 'answered'; readonly result: unknown }
  /** The handler threw, or could not be made. */
  | { readonly status: 'failed'; readonly error: unknown }
  /** The process died, of its time-out or of a fault. */
  | { readonly status: 'died' }
  /** No process is free, or no execution of the account. */
  | { readonly status: 'throttled' };

/** The queue that a function's batches come from. Its batching window is 0, and the function's answer names the messages that failed. */
interface EventSourceDefinition extends Pick<EventSource, 'concurrency' | 'standstill'> {
  readonly queue: string;
  /** 10 by default. */
  readonly batchSize?: number;
}
