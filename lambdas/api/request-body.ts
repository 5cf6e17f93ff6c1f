import { bodyBytes, type HttpRequest } from '../platform/http.ts';
import { apiProblem } from './problems.ts';

/** @throws {Problem} 413 for a body that is too long. */
export function assertBodySize(bytes: Buffer): void {
  if (bytes.length <= maximumBodyBytes) return;
  throw apiProblem('payload_too_large', { values: { maximum: maximumBodyBytes } });
}

/**
 * Parses a request's JSON body strictly: media type, size, UTF-8, JSON, no duplicate names. Errors never repeat the body.
 *
 * @param isOptional - whether a missing body counts as `{}`, and `null` as missing: generated clients send it for no body.
 * @throws {Problem} 415, 413 or 400, in this order.
 */
export function parseJsonBody(
  request: Pick<HttpRequest, 'headers' | 'body' | 'isBase64Encoded'>,
  isOptional = false,
): unknown {
  const bytes = bodyBytes(request);
  if (isOptional && bytes.length === 0) return {};
  if (!isJson(request.headers['content-type'])) {
    throw apiProblem('unsupported_media_type', { headers: { accept: 'application/json' } });
  }
  assertBodySize(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw apiProblem('body_not_utf8');
  }
  if (text.trim() === '') throw apiProblem('body_empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw apiProblem('body_not_json');
  }
  if (findDuplicateName(text) !== undefined) throw apiProblem('body_repeats_name');
  return isOptional && value === null ? {} : value;
}

/** The most bytes that a request body may have. */
export const maximumBodyBytes = 16 * 1_024;

/**
 * `application/json`, alone or with parameters of which `charset` must be UTF-8 (RFC 8259 section 11 defines none), by its name or
 * by the alias that some libraries send (WHATWG Encoding section 4.2).
 */
function isJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '').split(';').map(part => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  return parameters.every(parameter => !/^charset\s*=/.test(parameter) || /^charset="?utf-?8"?$/.test(parameter));
}

/** Returns the first name that a JSON object has twice at its top level; JSON.parse would silently keep the last value. */
function findDuplicateName(json: string): string | undefined {
  const names = new Set<string>();
  let depth = 0;
  for (const [token, text] of json.matchAll(/("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (text === undefined || depth !== 1) continue;
    const name: string = JSON.parse(text);
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}
