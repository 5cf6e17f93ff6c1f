/**
 * What the user can correct: an option, a port, a template. Its message is one line and is printed without a stack. Every
 * other error is a bug of the local cloud.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** An invalid command line. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
}

/** The first line of the message of an error. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n')[0] ?? '';
}

/** The system's error code (`EADDRINUSE`, `ENOENT`, …), where there is one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
