/**
 * An error that the user can correct, such as a port in use or an invalid file. Programs print its message without a
 * stack trace. Every other error is a bug in the local cloud.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
  /** The problem. The calling program uses it to name the option that the user must change. */
  readonly problem: StartProblem | undefined;

  /** @param message - has no full stop if there is a problem, because the calling program may append advice */
  constructor(message: string, problem?: StartProblem) {
    super(message);
    this.problem = problem;
  }
}

/** A problem with an option of the run. */
export type StartProblem =
  | 'port-in-use'
  | 'port-refused'
  | 'outputs-unwritable'
  | 'data-in-use'
  | 'data-unfit'
  | 'data-damaged';

/** Converts the error for an unavailable port into a `StartError`. Returns other errors unchanged. */
export function portError(error: unknown, port: number): unknown {
  if (codeOf(error) === 'EADDRINUSE') return new StartError(`Port ${port} is in use`, 'port-in-use');
  if (codeOf(error) === 'EACCES')
    return new StartError(`The system does not allow you to use port ${port}`, 'port-refused');
  return error;
}

/** Returns the first line of an error's message. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n')[0] ?? '';
}

/** Returns the system's error code (`EADDRINUSE`, `ENOENT`, …), if there is one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
