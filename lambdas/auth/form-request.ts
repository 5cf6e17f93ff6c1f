import { bodyBytes, type HttpRequest } from '../platform/http.ts';
import { decodeForm, decodeFormComponent, type FormField } from './form.ts';
import type { Refuse } from './oauth-error.ts';
import type { FormRefusal } from './routes.ts';

/** The parameters of a request, without empty ones (RFC 6749 section 3.1). */
export type Parameters = ReadonlyMap<string, string>;

/** Reads the parameters of a form request. The checks run in the order in which their errors take precedence. @throws {OAuthError} */
export function readFormRequest(request: HttpRequest, refuse: Refuse<FormRefusal>): Parameters {
  requirePost(request, refuse);
  requireForm(request, refuse);
  const body = requireSmallBody(request, refuse);
  const fields = requireWellFormed(body, refuse);
  const parameters = refuseDuplicates(fields, refuse);
  refuseSecretsInQuery(request, refuse);
  return parameters;
}

/** Requires the method POST (RFC 6749 section 3.2, RFC 9110 section 15.5.6). */
function requirePost(request: HttpRequest, refuse: Refuse<'method_not_post'>): void {
  if (request.requestContext.http.method !== 'POST') throw refuse('method_not_post');
}

/**
 * Requires the content type of a form (RFC 6749 section 3.2). Ignores most charsets, because a form is ASCII (WHATWG URL section 5) and
 * Apache HttpClient declares ISO-8859-1 for every form. Rejects UTF-16 and UTF-32, which encode ASCII differently.
 */
function requireForm(request: HttpRequest, refuse: Refuse<'content_type'>): void {
  const contentType = request.headers['content-type']?.trim() ?? '';
  const isForm = formType.test(contentType) && !contentType.includes(',');
  if (!isForm || wideCharset.test(contentType)) throw refuse('content_type');
}

/** Returns the bytes of the body. Rejects a body over 16 KiB. */
function requireSmallBody(request: HttpRequest, refuse: Refuse<'body_too_large'>): Uint8Array {
  const body = bodyBytes(request);
  if (body.length > bodyLimit) throw refuse('body_too_large');
  return body;
}

/** Decodes the fields of a body (RFC 6749 appendix B). */
function requireWellFormed(body: Uint8Array, refuse: Refuse<'malformed_form'>): readonly FormField[] {
  const fields = decodeForm(body);
  if (!fields) throw refuse('malformed_form');
  return fields;
}

/** Rejects duplicate parameters, even unknown or empty ones (RFC 6749 section 3.2). Returns the parameters that are not empty. */
function refuseDuplicates(fields: readonly FormField[], refuse: Refuse<'duplicate_parameter'>): Parameters {
  if (new Set(fields.map(([name]) => name)).size < fields.length) throw refuse('duplicate_parameter');
  return new Map(fields.filter(([, value]) => value !== ''));
}

/** Rejects secrets in the query, because URIs appear in logs (RFC 6749 section 2.3.1). */
function refuseSecretsInQuery(request: HttpRequest, refuse: Refuse<'secret_in_query'>): void {
  for (const field of (request.rawQueryString ?? '').split('&')) {
    const [name = ''] = field.split('=', 1);
    if (secretNames.includes(decodeFormComponent(Buffer.from(name)) ?? '')) throw refuse('secret_in_query');
  }
}

const formType = /^application\/x-www-form-urlencoded[\t ]*(?:;|$)/i;

const wideCharset = /;[\t ]*charset[\t ]*=[\t ]*"?utf-?(?:16|32)/i;

const bodyLimit = 16 * 1024;

const secretNames = ['client_secret', 'password', 'refresh_token'];
