import type { EventSource } from '../../sqs/event-source.ts';

/** A function. `Runtime` is its only access to anything outside its process. */
export interface FunctionDefinition<Runtime> {
  readonly name: string;
  /** Creates the handler of a new process. */
  readonly start: (runtime: Runtime) => Handler | Promise<Handler>;
  /** The timeout in milliseconds, after which Lambda kills the process. */
  readonly timeout: number;
  /** The maximum number of processes. */
  readonly concurrency?: number;
  readonly sources?: readonly EventSourceDefinition[];
  /** The interval of runs in milliseconds. The first run is one interval after the start. */
  readonly schedule?: { readonly every: number };
}

/** A handler. It is a method so that it may require its own event type. */
export type Handler = { handle(event: unknown, context: InvocationContext): unknown }['handle'];

/** A handler's second argument, after the event. */
export interface InvocationContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly getRemainingTimeInMillis: () => number;
}

/** The outcome of an invocation. */
export type Outcome =
  | { readonly status: 'answered'; readonly result: unknown }
  /** The handler threw, or could not be created. */
  | { readonly status: 'failed'; readonly error: unknown }
  /** The process died by a timeout or a fault. */
  | { readonly status: 'died' }
  /** The function has no free process, or the account no free execution. */
  | { readonly status: 'throttled' };

/** The queue of a function's batches. The batching window is 0, and the response lists the failed messages. */
interface EventSourceDefinition extends Pick<EventSource, 'concurrency' | 'standstill'> {
  readonly queue: string;
  /** The maximum number of messages in a batch, 10 by default. */
  readonly batchSize?: number;
}
