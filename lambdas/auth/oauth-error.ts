/** A row of the table of errors. */
export type OAuthCase = keyof typeof oauthCases;

/** What every endpoint that reads a form may refuse. */
export type FormRefusal = keyof typeof formCases | 'method_not_post';

/** Details of an error beyond its row in the table. */
export interface OAuthErrorDetail {
  /** A fixed code for the audit trail, if one public error has several causes. */
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * Errors of the OAuth endpoints: status, code (of RFC 6749 section 5.2 if there is one) and description. Descriptions are plain ASCII
 * and never repeat what was sent.
 */
export type OAuthTable = Readonly<Record<string, OAuthRow>>;

type OAuthRow = readonly [status: number, error: string, description: string];

/** The errors of every path of {auth_url}, for what is no operation. */
export const pathCases = {
  method_not_post: [405, 'invalid_request', 'The request method must be POST.'],
  method_not_get: [405, 'invalid_request', 'The request method must be GET.'],
  no_such_path: [404, 'invalid_request', 'There is nothing at this path.'],
} as const satisfies OAuthTable;

/** The errors of every endpoint that reads a form and authenticates a client. */
export const formCases = {
  content_type: [400, 'invalid_request', 'The content type must be application/x-www-form-urlencoded, in UTF-8.'],
  body_too_large: [413, 'invalid_request', 'The request body is larger than 16 KiB.'],
  malformed_form: [400, 'invalid_request', 'The request body is not a well-formed form in UTF-8.'],
  duplicate_parameter: [400, 'invalid_request', 'A parameter is included more than once.'],
  secret_in_query: [400, 'invalid_request', 'Credentials and tokens must not be sent in the query string.'],
  client_missing: [401, 'invalid_client', 'Client authentication is required: client_id and client_secret.'],
  client_two_ways: [400, 'invalid_request', 'Client credentials must be sent in one way only.'],
  client_ids_differ: [400, 'invalid_request', 'The request names two different clients.'],
  basic_malformed: [400, 'invalid_request', 'The Basic credentials of the Authorization header are malformed.'],
  scheme_unsupported: [401, 'invalid_client', 'Clients authenticate by HTTP Basic or in the request body.'],
  client_refused: [401, 'invalid_client', 'Client authentication failed.'],
  ip_rate_limit: [
    429,
    'temporarily_unavailable',
    'Client authentication failed, too often from one address: try again later.',
  ],
} as const satisfies OAuthTable;

/** The errors of every endpoint, when something fails on our side. */
export const serviceCases = {
  dependency_unavailable: [503, 'temporarily_unavailable', 'The service is busy: try again in a moment.'],
  unforeseen: [500, 'server_error', 'Something went wrong on our side.'],
} as const satisfies OAuthTable;

/** All errors of {auth_url}. */
export const oauthCases = {
  ...pathCases,
  ...formCases,
  grant_type_missing: [400, 'invalid_request', 'The parameter grant_type is required.'],
  grant_unsupported: [400, 'unsupported_grant_type', 'The grant type is not supported.'],
  grant_not_allowed: [400, 'unauthorized_client', 'The client is not allowed to use this grant type.'],
  username_missing: [400, 'invalid_request', 'The parameter username is required.'],
  password_missing: [400, 'invalid_request', 'The parameter password is required.'],
  refresh_token_missing: [400, 'invalid_request', 'The parameter refresh_token is required.'],
  token_missing: [400, 'invalid_request', 'The parameter token is required.'],
  username_too_long: [400, 'invalid_request', 'The parameter username is longer than 254 bytes.'],
  password_too_long: [400, 'invalid_request', 'The parameter password is longer than 1024 bytes.'],
  refresh_token_too_long: [400, 'invalid_request', 'The parameter refresh_token is longer than 512 bytes.'],
  scope_invalid: [400, 'invalid_scope', 'The requested scope is unknown or malformed.'],
  scope_of_another_client: [400, 'invalid_scope', 'The client is not allowed a scope that is requested.'],
  client_rate_limit: [429, 'temporarily_unavailable', 'Too many refused passwords of this client: try again later.'],
  scope_of_no_role: [400, 'invalid_scope', 'The role of the user has none of the requested scopes.'],
  scope_wider: [400, 'invalid_scope', 'The requested scope is wider than the one first granted.'],
  credentials_refused: [400, 'invalid_grant', 'The username or password is wrong, or the user may not log in now.'],
  refresh_token_refused: [400, 'invalid_grant', 'The refresh token is invalid, expired or revoked.'],
  token_of_another_client: [400, 'invalid_request', 'The token was issued to another client.'],
  ...serviceCases,
} as const satisfies OAuthTable;

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
