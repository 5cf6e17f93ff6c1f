/**
 * Something the person at the terminal can mend (an option, a port, a template). It is printed as its one line,
 * without a stack; every other error is a bug of the local cloud.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** A command line that was not understood. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
}

/** The message of whatever was thrown, on one line. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n')[0] ?? '';
}

/** The system's error code (`EADDRINUSE`, `ENOENT`, …), where there is one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
