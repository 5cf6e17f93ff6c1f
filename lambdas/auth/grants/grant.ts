import type { Reads, Records } from '../../platform/batch-get.ts';
import type { Parameters } from '../form-request.ts';
import { type OAuthCase, OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import { parseScope, type Scope } from '../principals/scope.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { TokenResponse } from './token-issue.ts';

/** A request whose client is authenticated and allowed to use the grant. */
export interface GrantRequest {
  readonly client: Client;
  /** What the prepared grant asked for in `reads`. */
  readonly records: Records<string>;
  readonly auditContext: AuditContext;
}

/** A grant with the parameters of one request. */
export interface PreparedGrant {
  /** Read in one round trip with the client. */
  readonly reads: Reads<string>;
  /** @throws {OAuthError} */
  issue(request: GrantRequest): Promise<TokenResponse>;
}

/** A way to get tokens. Adding one: its file, and its entry in the table of grants. */
export interface Grant {
  /**
   * Checks the parameters. The client is not authenticated yet: `clientId` is only who it says it is.
   *
   * @throws {OAuthError} told only when its turn comes, after everything about the client.
   */
  prepare(parameters: Parameters, clientId: string): Promise<PreparedGrant>;
}

/** How a required parameter is limited. */
export interface ParameterRule {
  readonly missing: OAuthCase;
  readonly tooLong: OAuthCase;
  /** Of the decoded value, in UTF-8. */
  readonly mostBytes: number;
}

/** A required parameter. @throws {OAuthError} when it is missing, empty or over-long. */
export function requireParameter(parameters: Parameters, name: string, rule: ParameterRule): string {
  const value = parameters.get(name);
  if (value === undefined) throw new OAuthError(rule.missing);
  if (Buffer.byteLength(value) > rule.mostBytes) throw new OAuthError(rule.tooLong);
  return value;
}

/** Refuses scopes that the client may not have, whatever the user's role. @throws {OAuthError} */
export function refuseForeignScopes(requested: ReadonlySet<Scope> | undefined, client: Client): void {
  const allowed = new Set(client.scopes);
  if (requested && [...requested].some(scope => !allowed.has(scope))) throw new OAuthError('scope_of_another_client');
}

/** The `scope` parameter; `undefined` when there is none. @throws {OAuthError} when it is malformed or names an unknown scope. */
export function requestedScope(parameters: Parameters): ReadonlySet<Scope> | undefined {
  const parameter = parameters.get('scope');
  const scopes = parameter === undefined ? undefined : parseScope(parameter);
  if (parameter !== undefined && !scopes) throw new OAuthError('scope_invalid');
  return scopes;
}
