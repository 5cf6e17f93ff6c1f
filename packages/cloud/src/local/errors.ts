/**
 * An error that the user can correct, in a port, a file or a template. Its message is one line and is printed without a
 * stack. Every other error is a bug of the local cloud.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
  /** The problem of the request, so that the program can name the option to change. */
  readonly problem: StartProblem | undefined;

  /** @param message - without a full stop if there is a problem, since advice may follow */
  constructor(message: string, problem?: StartProblem) {
    super(message);
    this.problem = problem;
  }
}

/** The part of the request that cannot be used. */
export type StartProblem =
  | 'port-in-use'
  | 'port-refused'
  | 'outputs-unwritable'
  | 'data-in-use'
  | 'data-unfit'
  | 'data-damaged';

/** Converts the error of an unavailable port into a `StartError`. Returns other errors unchanged. */
export function portError(error: unknown, port: number): unknown {
  if (codeOf(error) === 'EADDRINUSE') return new StartError(`Port ${port} is in use`, 'port-in-use');
  if (codeOf(error) === 'EACCES')
    return new StartError(`The system does not allow you to use port ${port}`, 'port-refused');
  return error;
}

/** Returns the first line of the message of an error. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n')[0] ?? '';
}

/** Returns the system's error code (`EADDRINUSE`, `ENOENT`, …), if there is one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
