import type { BearerAuthentication, Principal } from '../auth/sessions/bearer.ts';
import { Problem } from './problem.ts';

/** What an operation asks of the token: reading is part of managing. */
export type NeededScope = 'webhooks:read' | 'webhooks:manage';

/** How requests are let in. */
export interface Admission {
  readonly authenticate: BearerAuthentication;
  /** Where the document of RFC 9728 is: challenges of requests without a valid token name it. */
  readonly resourceMetadata: string;
}

/**
 * Lets a request in, or says why not, with the challenges of RFC 6750 section 3: a request without a token learns only
 * how to authenticate; one with a token learns what is wrong with it.
 *
 * @throws {Problem} 401 `token_missing` or `invalid_token`, 403 `admin_required` or `insufficient_scope`.
 */
export async function admit(
  { authenticate, resourceMetadata }: Admission,
  authorization: string | undefined,
  needed: NeededScope,
): Promise<Principal> {
  const bearer = await authenticate(authorization);
  const where = `resource_metadata="${resourceMetadata}"`; // RFC 9728 section 5.1
  if (bearer.outcome === 'missing') {
    throw unauthorized('token_missing', 'Send an access token: Authorization: Bearer <token>.', `${realm}, ${where}`);
  }
  if (bearer.outcome === 'invalid') {
    const detail = 'The access token is malformed, expired or revoked: get a new one from the token endpoint.';
    const fault = `error="invalid_token", error_description="${detail}"`;
    throw unauthorized('invalid_token', detail, `${realm}, ${fault}, ${where}`);
  }
  const { principal } = bearer;
  if (principal.role !== 'admin') {
    throw new Problem(
      403,
      'admin_required',
      'Only users with administrative permission on the account manage webhooks.',
    );
  }
  if (!principal.scopes.has(needed) && !principal.scopes.has('webhooks:manage')) {
    throw new Problem(403, 'insufficient_scope', `The access token lacks the scope ${needed}.`, {
      headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${needed}"` },
    });
  }
  return principal;
}

function unauthorized(code: string, detail: string, challenge: string): Problem {
  return new Problem(401, code, detail, { headers: { 'www-authenticate': challenge } });
}

const realm = 'Bearer realm="webhooks"';
