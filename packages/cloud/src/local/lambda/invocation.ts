/** The reason why an invocation failed, as Lambda reports it. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** The outcome of an invocation. A function's error is a value and never thrown. */
export type InvocationOutcome =
  | { readonly outcome: 'returned'; readonly payload: string }
  | { readonly outcome: 'failed'; readonly error: FunctionError };

/** Invokes a function with a JSON payload and waits for its end. */
export type Invoke = (payload: string) => Promise<InvocationOutcome>;

/** One invocation as the function's process gets it. */
export interface Invocation {
  readonly requestId: string;
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** What a process says: that it is ready, the outcome of its invocation, or the error that it ends with. */
export type ProcessMessage = 'ready' | InvocationOutcome | { readonly outcome: 'fatal'; readonly error: FunctionError };
