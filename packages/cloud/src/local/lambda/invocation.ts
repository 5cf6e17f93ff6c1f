/** The reason why an invocation failed, as Lambda reports it. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** The outcome of an invocation. Errors of the function are values and never thrown. */
export type InvocationOutcome =
  | { readonly outcome: 'returned'; readonly payload: string }
  | { readonly outcome: 'failed'; readonly error: FunctionError };

/** Invokes a function with a JSON payload and waits for the outcome. */
export type Invoke = (payload: string) => Promise<InvocationOutcome>;

/** The message that starts an invocation in a function's process. */
export interface Invocation {
  readonly requestId: string;
  readonly payload: string;
  /** The deadline in milliseconds since the epoch. */
  readonly deadline: number;
}

/** A message of a process. It contains `ready`, the outcome of an invocation, or the error that ends the process. */
export type ProcessMessage = 'ready' | InvocationOutcome | { readonly outcome: 'fatal'; readonly error: FunctionError };
