import type { RecordKeys, Records } from '../../platform/aws/batch-get.ts';
import type { Parameters } from '../form-request.ts';
import type { MakeOAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import { parseScope, type Scope } from '../principals/scope.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { TokenResponse } from '../responses.ts';
import type { authRoutes, OAuthCase } from '../routes.ts';

/** An authorization grant (RFC 6749 section 1.3). CONTRIBUTING.md lists the changes that a new grant requires. */
export interface Grant {
  /**
   * Checks the parameters of a request. The claimed `clientId` is not authenticated yet.
   *
   * @throws {OAuthError} for an invalid parameter. Errors of client authentication take precedence.
   */
  prepare(parameters: Parameters, makeError: MakeGrantError, clientId: string): Promise<PreparedGrant>;
}

/** Creates the errors that the route of the token endpoint lists. */
export type MakeGrantError = MakeOAuthError<(typeof authRoutes.Token.operations.issueToken.errors)[number]>;

export interface PreparedGrant {
  /** The keys of the records to read together with the client's record. */
  readonly keysToRead: RecordKeys<string>;
  /** @throws {OAuthError} */
  issue(request: GrantRequest): Promise<TokenResponse>;
}

/** A request from an authenticated client that may use the grant. */
export interface GrantRequest {
  readonly client: Client;
  /** The records that the prepared grant's `keysToRead` identify. */
  readonly records: Records<string>;
  readonly auditContext: AuditContext;
  readonly makeError: MakeGrantError;
}

/** The errors and the maximum length of a required parameter. */
export interface ParameterRule<Case extends OAuthCase> {
  readonly missing: Case;
  readonly tooLong: Case;
  /** The maximum length of the decoded value in UTF-8 bytes. */
  readonly maxBytes: number;
}

/** Returns a required parameter. @throws {OAuthError} if the parameter is missing, empty or too long. */
export function requireParameter<Case extends OAuthCase>(
  parameters: Parameters,
  name: string,
  rule: ParameterRule<Case>,
  makeError: MakeOAuthError<Case>,
): string {
  const value = parameters.get(name);
  if (value === undefined) throw makeError(rule.missing);
  if (Buffer.byteLength(value) > rule.maxBytes) throw makeError(rule.tooLong);
  return value;
}

/** Returns the requested scopes, or `undefined` if there are none. @throws {OAuthError} if a scope is unknown. */
export function requestedScope(
  parameters: Parameters,
  makeError: MakeOAuthError<'scope_invalid'>,
): ReadonlySet<Scope> | undefined {
  const scopes = parseScope(parameters.get('scope') ?? '');
  if (!scopes) throw makeError('scope_invalid');
  return scopes.size > 0 ? scopes : undefined;
}

/** Rejects requested scopes that the client may not use, regardless of the user's role. @throws {OAuthError} */
export function rejectForeignScopes(
  requested: ReadonlySet<Scope> | undefined,
  client: Client,
  makeError: MakeOAuthError<'scope_of_another_client'>,
): void {
  const allowed = new Set(client.scopes);
  if (requested && [...requested].some(scope => !allowed.has(scope))) throw makeError('scope_of_another_client');
}
