/** Why an invocation failed, as Lambda reports it. */
export interface FunctionFault {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** How an invocation ended. A fault is an outcome: nothing is thrown for what a function did. */
export type InvocationOutcome =
  | { readonly outcome: 'returned'; readonly payload: string }
  | { readonly outcome: 'failed'; readonly fault: FunctionFault };

/** Invokes a function with a JSON payload and waits for its end. */
export type Invoke = (payload: string) => Promise<InvocationOutcome>;

/** The fault of a function that did not answer in time. */
export function timeoutFault(requestId: string, seconds: number): FunctionFault {
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`,
  };
}

/** The fault of a function whose process ended by itself. */
export function exitFault(requestId: string, code: number | null, signal: string | null): FunctionFault {
  return {
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${requestId} Error: Runtime exited with error: ${
      signal === null ? `exit status ${code}` : `signal: ${signal}`
    }`,
  };
}
