import { bodyBytes, type HttpRequest } from '../platform/http.ts';
import type { MakeProblem } from './problem.ts';

/** Checks the size of a body. @throws {Problem} 413 if the body is too large. */
export function assertBodySize(bytes: Buffer, makeProblem: MakeProblem<'payload_too_large'>): void {
  if (bytes.length > maximumBodyBytes) throw makeProblem('payload_too_large');
}

/**
 * Parses a JSON body of at most 16 KiB. Requires the JSON media type, UTF-8 and unique top-level names. Errors never quote the body.
 *
 * @param isOptional - true if a missing body or `null` is treated as `{}`. Generated clients send `null` for a missing body.
 * @throws {Problem} 415, 413 or 400, in this order.
 */
export function parseJsonBody(
  request: Pick<HttpRequest, 'headers' | 'body' | 'isBase64Encoded'>,
  makeProblem: MakeProblem<ParsingProblemName>,
  isOptional = false,
): unknown {
  const bytes = bodyBytes(request);
  if (isOptional && bytes.length === 0) return {};
  if (!isJson(request.headers['content-type'])) {
    throw makeProblem('unsupported_media_type', { headers: { accept: 'application/json' } });
  }
  assertBodySize(bytes, makeProblem);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw makeProblem('body_not_utf8');
  }
  if (text.trim() === '') throw makeProblem('body_empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw makeProblem('body_not_json');
  }
  if (findDuplicateName(text) !== undefined) throw makeProblem('body_repeats_name');
  return isOptional && value === null ? {} : value;
}

/** The errors that the parsing of a body can cause. */
type ParsingProblemName =
  | 'unsupported_media_type'
  | 'payload_too_large'
  | 'body_not_utf8'
  | 'body_empty'
  | 'body_not_json'
  | 'body_repeats_name';

/** The maximum size of a request body in bytes. */
export const maximumBodyBytes = 16 * 1_024;

/**
 * Returns whether a content type is `application/json`. RFC 8259 section 11 defines no parameters, but `charset` may be UTF-8 or the
 * alias that some libraries send (WHATWG Encoding section 4.2). Accepts spaces around `=`, like {auth_url}.
 */
function isJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '').split(';').map(part => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  return parameters.every(parameter => !/^charset\s*=/.test(parameter) || /^charset\s*=\s*"?utf-?8"?$/.test(parameter));
}

/** Returns the first duplicate name at the top level of a JSON object. JSON.parse would silently use the last value. */
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
