import type { OAuthCase, OAuthRow } from './routes.ts';

/** The details that an error adds to its row in the table of errors. */
export interface OAuthErrorDetail {
  /** A constant code that identifies the cause in the audit trail, if one public error has several causes. */
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
}

/** An expected request error. The endpoint wrapper converts it to a response. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly oauthCase: OAuthCase;
  readonly status: number;
  /** The `error` code of the response. */
  readonly code: string;
  /** The `error_description` of the response. */
  readonly description: string;
  /** The cause, for the audit trail only. Responses do not contain it. */
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  private constructor(oauthCase: OAuthCase, [status, code, description]: OAuthRow, detail: OAuthErrorDetail = {}) {
    const { reason = oauthCase, retryAfterSeconds } = detail;
    super(description);
    this.oauthCase = oauthCase;
    this.status = status;
    this.code = code;
    this.description = description;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /**
   * Returns the function that creates a table's errors. The linter allows this call only in endpoint wrappers, which pass the
   * function to other code and limit it to the errors of the operation.
   */
  static from<Case extends OAuthCase>(table: Readonly<Record<Case, OAuthRow>>): MakeOAuthError<Case> {
    return (oauthCase, detail) => new OAuthError(oauthCase, table[oauthCase], detail);
  }
}

/** Returns the error for a row, for the caller to throw. */
export type MakeOAuthError<Case extends OAuthCase> = (oauthCase: Case, detail?: OAuthErrorDetail) => OAuthError;
