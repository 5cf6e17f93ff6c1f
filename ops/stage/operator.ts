/** An error that the operator can act on. Its message is shown unchanged, on one line, without a stack trace. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** The values that `--json` shows in addition to the message. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.details = details;
  }
}

/** Shows the progress of a long action. Each text replaces the previous one. */
export type ShowProgress = (text: string) => void;

/**
 * Asks for confirmation before an action that ends sessions or cannot be undone. `consequences` is a sentence such as
 * `This permanently deletes 12 messages.`
 * @throws {CliError} unless the operator confirms.
 */
export type Confirm = (consequences: string) => Promise<void>;

/** Asks for a password. `check` returns the problem with an entered password, which the prompt shows. */
export type AskPassword = (check: (password: string) => Promise<string | undefined>) => Promise<string>;

/**
 * Returns a message about an error for the operator, on one line.
 * @param unreachable - the message for a target that does not respond.
 * @param profile - the AWS profile that the SDK uses.
 */
export function describeError(error: unknown, unreachable: string, profile = process.env.AWS_PROFILE): string {
  const errors = unwrap(error);
  if (error instanceof CliError) return oneLine(error.message);
  if (errors.some(isUnreachable)) return unreachable;
  const credentialError = errors.find(inner => credentialErrors.includes(nameOf(inner)));
  if (credentialError) return describeCredentials(nameOf(credentialError), messageOf(credentialError), profile);
  if (errors.some(inner => accessErrors.includes(nameOf(inner)))) {
    return `Access denied for these AWS credentials: ${oneLine(messageOf(error))}`;
  }
  if (/region is missing/i.test(messageOf(error))) {
    return profile
      ? `No AWS Region: there is no profile "${profile}" (AWS_PROFILE), or it has no Region. Choose another profile, or set AWS_REGION.`
      : 'No AWS Region. Set AWS_REGION or AWS_PROFILE.';
  }
  return oneLine(`${nameOf(error) || 'failure'}: ${messageOf(error)}`);
}

/** Returns the operator's command line for a stage, or for the local run (`null`), which is the default target. */
export function opsOf(stage: string | null): string {
  return stage === null || stage === 'local' ? 'npm run ops --' : `npm run ops -- --stage ${stage}`;
}

/** Returns whether a value is an error with a name that AWS or our stores set. */
export function isNamed(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name === name;
}

/** A part of a result, or the reason why this part could not be read. */
export type Part<Value> = Value | Unread;

interface Unread {
  readonly unread: string;
}

/** Returns whether a part could not be read. */
export function isUnread(part: unknown): part is Unread {
  return typeof part === 'object' && part !== null && 'unread' in part;
}

/** Returns whether a part is incomplete. The rest may have further problems. */
export function isCutOff(part: unknown): boolean {
  const { isCutOff: isPartial, late } = Object(part);
  return isPartial === true || late?.isCutOff === true;
}

/** Returns the error and all errors that it wraps, such as causes and the errors for each IP address. */
function unwrap(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [error];
  const inner = error instanceof AggregateError ? error.errors : [];
  return [error, ...inner.flatMap(unwrap), ...(error.cause === undefined ? [] : unwrap(error.cause))];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function isUnreachable(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'].includes(String(error.code))
  );
}

function describeCredentials(name: string, message: string, profile: string | undefined): string {
  if (message.includes('multi-factor')) {
    const of = profile ?? 'default';
    return `the AWS profile "${of}" requires multi-factor authentication, and this program cannot prompt for a code. Run: export AWS_REGION=\${AWS_REGION:-$(aws configure get region --profile ${of})}; eval "$(aws configure export-credentials --profile ${of} --format env)"; unset AWS_PROFILE`;
  }
  const todo = profile
    ? ` in the profile "${profile}" (AWS_PROFILE). Sign in ("aws sso login"), or choose another profile ("aws configure list-profiles").`
    : '. Sign in ("aws sso login"), or set AWS_PROFILE or AWS_ACCESS_KEY_ID.';
  // AWS may repeat a session token. In messages of the SDK, the text after a colon may be a command line or part of a file.
  const [reason] = name.endsWith('ProviderError') ? message.split(/: |\n/) : [];
  const why = reason ? ` The SDK reports: ${reason}` : unknownErrors.includes(name) ? ` ${notEnabled}` : '';
  return oneLine(`no usable AWS credentials${todo}${why}`);
}

const unknownErrors = ['InvalidClientTokenId', 'UnrecognizedClientException'];

const notEnabled = 'AWS does not recognize them. They were deleted, or the Region is not enabled in their account.';

const credentialErrors = [
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'TokenProviderError',
  ...unknownErrors,
];

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

const accessErrors = ['AccessDenied', 'AccessDeniedException', 'AuthorizationErrorException', 'UnauthorizedOperation'];

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
