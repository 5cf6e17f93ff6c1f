import type { BearerAuthentication, Principal } from '../auth/sessions/bearer.ts';
import type { HttpRequest } from '../platform/http.ts';
import { Problem } from './problem.ts';
import { protectedProblems } from './problems.ts';

/** The scope that an endpoint requires. `webhooks:manage` includes `webhooks:read`. */
export type RequiredScope = 'webhooks:read' | 'webhooks:manage';

interface BearerProtection {
  readonly authenticate: BearerAuthentication;
  /** The URL of the protected resource metadata (RFC 9728), for challenges. */
  readonly resourceMetadata: string;
}

/**
 * Authenticates a request and checks the role and the scope. Except for `admin_required`, rejections contain the challenge of RFC 6750
 * section 3. The challenge contains an error code only if the request has a token.
 *
 * @throws {Problem} 401 `token_missing` or `invalid_token`, 403 `admin_required` or `insufficient_scope`.
 */
export async function authorize(
  { authenticate, resourceMetadata }: BearerProtection,
  request: HttpRequest,
  required: RequiredScope,
): Promise<Principal> {
  const bearer = await authenticate(request.headers.authorization);
  const metadata = `resource_metadata="${resourceMetadata}"`; // RFC 9728 section 5.1
  if (bearer.outcome === 'missing') {
    throw protectedProblem('token_missing', { headers: { 'www-authenticate': `${realm}, ${metadata}` } });
  }
  if (bearer.outcome === 'invalid') {
    // RFC 6750 section 3 allows ASCII only.
    const reason = `error="invalid_token", error_description="${protectedProblems.invalid_token.en}"`;
    throw protectedProblem('invalid_token', { headers: { 'www-authenticate': `${realm}, ${reason}, ${metadata}` } });
  }
  const { principal } = bearer;
  if (principal.role !== 'admin') throw protectedProblem('admin_required');
  if (!principal.scopes.has(required) && !principal.scopes.has('webhooks:manage')) {
    throw protectedProblem('insufficient_scope', {
      values: { scope: required },
      headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${required}"` },
    });
  }
  return principal;
}

const protectedProblem = Problem.from(protectedProblems);

const realm = 'Bearer realm="webhooks"';
