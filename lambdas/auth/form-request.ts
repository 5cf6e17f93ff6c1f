import { bodyBytes, type HttpRequest } from '../platform/http.ts';
import { decodeForm, decodeFormComponent, type FormField } from './form.ts';
import { OAuthError } from './oauth-error.ts';

/** The parameters of a request; empty ones are absent (RFC 6749 section 3.1). */
export type Parameters = ReadonlyMap<string, string>;

/** Reads the parameters of a form request, step by step in the order in which errors are reported. @throws {OAuthError} */
export function readFormRequest(request: HttpRequest): Parameters {
  requirePost(request);
  requireForm(request);
  const body = requireSmallBody(request);
  const fields = requireWellFormed(body);
  const parameters = refuseDuplicates(fields);
  refuseSecretsInQuery(request);
  return parameters;
}

/** RFC 6749 section 3.2, RFC 9110 section 15.5.6. */
function requirePost(request: HttpRequest): void {
  if (request.requestContext.http.method !== 'POST') throw new OAuthError('method_not_post');
}

/** RFC 6749 section 3.2 and appendix B: a form in UTF-8 and nothing else. */
function requireForm(request: HttpRequest): void {
  const contentType = request.headers['content-type']?.trim() ?? '';
  const charsets = [...contentType.matchAll(charsetParameter)].map(([, charset = '']) => charset.replaceAll('"', ''));
  const isForm = formType.test(contentType) && !contentType.includes(',');
  if (!isForm || charsets.some(charset => !utf8Names.includes(charset.toLowerCase())))
    throw new OAuthError('content_type');
}

/** Returns the body's bytes, at most 16 KiB of them. */
function requireSmallBody(request: HttpRequest): Uint8Array {
  const body = bodyBytes(request);
  if (body.length > bodyLimit) throw new OAuthError('body_too_large');
  return body;
}

/** RFC 6749 appendix B. */
function requireWellFormed(body: Uint8Array): readonly FormField[] {
  const fields = decodeForm(body);
  if (!fields) throw new OAuthError('malformed_form');
  return fields;
}

/** RFC 6749 section 3.2: no parameter twice, not even an unknown or empty one. */
function refuseDuplicates(fields: readonly FormField[]): Parameters {
  if (new Set(fields.map(([name]) => name)).size < fields.length) throw new OAuthError('duplicate_parameter');
  return new Map(fields.filter(([, value]) => value !== ''));
}

/** RFC 6749 section 2.3.1: URIs end up in logs. */
function refuseSecretsInQuery(request: HttpRequest): void {
  for (const field of (request.rawQueryString ?? '').split('&')) {
    const [name = ''] = field.split('=', 1);
    if (secretNames.includes(decodeFormComponent(Buffer.from(name)) ?? '')) throw new OAuthError('secret_in_query');
  }
}

const charsetParameter = /;[\t ]*charset[\t ]*=[\t ]*("[^"]*"|[^;,\t ]*)/gi;

const formType = /^application\/x-www-form-urlencoded[\t ]*(?:;|$)/i;

/** The name of the charset, and the alias that some libraries send (WHATWG Encoding section 4.2). */
const utf8Names = ['utf-8', 'utf8'];

const bodyLimit = 16 * 1024;

const secretNames = ['client_secret', 'password', 'refresh_token'];
