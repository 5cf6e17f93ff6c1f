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

/** Returns the error of a function that did not answer in time. */
export function timeoutError(requestId: string, seconds: number): FunctionError {
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`,
  };
}

/** Returns the error of a function whose process exited. */
export function exitError(requestId: string, code: number | null, signal: string | null): FunctionError {
  return {
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${requestId} Error: Runtime exited with error: ${
      signal === null ? `exit status ${code}` : `signal: ${signal}`
    }`,
  };
}
