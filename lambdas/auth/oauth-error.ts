import type { OAuthCase, OAuthRow } from './routes.ts';

/** Details of an error beyond its row in the table. */
export interface OAuthErrorDetail {
  /** A fixed code for the audit trail, if one public error has several causes. */
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
}

/** An expected error of a request: thrown where it is found, and turned into a response in one place, at the edge. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly oauthCase: OAuthCase;
  readonly status: number;
  /** The `error` code of the response. */
  readonly code: string;
  /** The `error_description` of the response. */
  readonly description: string;
  /** For the audit trail; never shown to the caller. */
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
   * Returns the function that makes the errors of a table, the only way to make one. The linter leaves it to the edges of the endpoints:
   * all others are given the function, and with it the names that their operation lists.
   */
  static from<Case extends OAuthCase>(table: Readonly<Record<Case, OAuthRow>>): Refuse<Case> {
    return (oauthCase, detail) => new OAuthError(oauthCase, table[oauthCase], detail);
  }
}

/** Makes an error of one of those rows, for the caller to throw. */
export type Refuse<Case extends OAuthCase> = (oauthCase: Case, detail?: OAuthErrorDetail) => OAuthError;
