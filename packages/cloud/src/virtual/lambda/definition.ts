import type { EventSource } from '../../sqs/event-source.ts';

/** The definition of a function. A process reaches everything outside itself only through its `Runtime`. */
export interface FunctionDefinition<Runtime> {
  readonly name: string;
  /** Creates the handler of a new process. */
  readonly start: (runtime: Runtime) => Handler | Promise<Handler>;
  /** The timeout in milliseconds, after which Lambda kills the process. */
  readonly timeout: number;
  /** The maximum number of processes. */
  readonly concurrency?: number;
  readonly sources?: readonly EventSourceDefinition[];
  /** The interval between scheduled runs, in milliseconds. The first run is one interval after the start. */
  readonly schedule?: { readonly every: number };
}

/** A handler. It has a method type because methods may declare narrower event types. */
export type Handler = { handle(event: unknown, context: InvocationContext): unknown }['handle'];

/** The second argument of a handler. */
export interface InvocationContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly getRemainingTimeInMillis: () => number;
}

/** The outcome of an invocation. */
export type Outcome =
  | { readonly status: 'returned'; readonly result: unknown }
  /** The handler threw an error, or creating the handler failed. */
  | { readonly status: 'failed'; readonly error: unknown }
  /** A timeout or a fault killed the process. */
  | { readonly status: 'died' }
  /** The function or the account has reached its maximum concurrency. */
  | { readonly status: 'throttled' };

/** An event source of a function. The batching window is 0, and the response lists the failed messages. */
interface EventSourceDefinition extends Pick<EventSource, 'concurrency' | 'standstill'> {
  readonly queue: string;
  /** The maximum number of messages in a batch. @default 10 */
  readonly batchSize?: number;
}
