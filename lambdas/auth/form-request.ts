import { bodyBytes, type HttpRequest } from '../platform/http.ts';
import { decodeForm, decodeFormComponent, type FormField } from './form.ts';
import type { MakeOAuthError } from './oauth-error.ts';
import type { FormCase } from './routes.ts';

/** The non-empty parameters of a request (RFC 6749 section 3.1). */
export type Parameters = ReadonlyMap<string, string>;

/** Reads the parameters of a form request. The order of the checks determines which error takes precedence. @throws {OAuthError} */
export function readFormRequest(request: HttpRequest, makeError: MakeOAuthError<FormCase>): Parameters {
  requirePost(request, makeError);
  requireForm(request, makeError);
  const body = requireSmallBody(request, makeError);
  const fields = requireWellFormed(body, makeError);
  const parameters = rejectDuplicates(fields, makeError);
  rejectSecretsInQuery(request, makeError);
  return parameters;
}

/** Requires the method POST (RFC 6749 section 3.2, RFC 9110 section 15.5.6). */
function requirePost(request: HttpRequest, makeError: MakeOAuthError<'method_not_post'>): void {
  if (request.requestContext.http.method !== 'POST') throw makeError('method_not_post');
}

/**
 * Requires the content type of a form (RFC 6749 section 3.2). Ignores most charsets, because a form is ASCII (WHATWG URL section 5) and
 * Apache HttpClient declares ISO-8859-1 for every form. Rejects UTF-16 and UTF-32, which encode ASCII differently.
 */
function requireForm(request: HttpRequest, makeError: MakeOAuthError<'content_type'>): void {
  const contentType = request.headers['content-type']?.trim() ?? '';
  const isForm = formType.test(contentType) && !contentType.includes(',');
  if (!isForm || wideCharset.test(contentType)) throw makeError('content_type');
}

/** Returns the bytes of the body. Rejects a body over 16 KiB. */
function requireSmallBody(request: HttpRequest, makeError: MakeOAuthError<'body_too_large'>): Uint8Array {
  const body = bodyBytes(request);
  if (body.length > bodyLimit) throw makeError('body_too_large');
  return body;
}

/** Decodes the fields of a body (RFC 6749 appendix B). */
function requireWellFormed(body: Uint8Array, makeError: MakeOAuthError<'malformed_form'>): readonly FormField[] {
  const fields = decodeForm(body);
  if (!fields) throw makeError('malformed_form');
  return fields;
}

/** Rejects duplicate parameters, even unknown or empty ones (RFC 6749 section 3.2). Returns the parameters that are not empty. */
function rejectDuplicates(fields: readonly FormField[], makeError: MakeOAuthError<'duplicate_parameter'>): Parameters {
  if (new Set(fields.map(([name]) => name)).size < fields.length) throw makeError('duplicate_parameter');
  return new Map(fields.filter(([, value]) => value !== ''));
}

/** Rejects secrets in the query, because URIs appear in logs (RFC 6749 section 2.3.1). */
function rejectSecretsInQuery(request: HttpRequest, makeError: MakeOAuthError<'secret_in_query'>): void {
  for (const field of (request.rawQueryString ?? '').split('&')) {
    const [name = ''] = field.split('=', 1);
    if (secretNames.includes(decodeFormComponent(Buffer.from(name)) ?? '')) throw makeError('secret_in_query');
  }
}

const formType = /^application\/x-www-form-urlencoded[\t ]*(?:;|$)/i;

const wideCharset = /;[\t ]*charset[\t ]*=[\t ]*"?utf-?(?:16|32)/i;

const bodyLimit = 16 * 1024;

const secretNames = ['client_secret', 'password', 'refresh_token'];
