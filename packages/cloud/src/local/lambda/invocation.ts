/** The reason why an invocation failed, as Lambda reports it. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** The outcome of an invocation. An error of the function is a value and never thrown. */
export type InvocationOutcome =
  | { readonly outcome: 'returned'; readonly payload: string }
  | { readonly outcome: 'failed'; readonly error: FunctionError };

/** Invokes a function with a JSON payload and waits for its end. */
export type Invoke = (payload: string) => Promise<InvocationOutcome>;

/** An invocation, as sent to the function's process. */
export interface Invocation {
  readonly requestId: string;
  readonly payload: string;
  /** The deadline in milliseconds since the epoch. */
  readonly deadline: number;
}

/** A message of a process: it is ready, the outcome of its invocation, or the error that ends it. */
export type ProcessMessage = 'ready' | InvocationOutcome | { readonly outcome: 'fatal'; readonly error: FunctionError };
