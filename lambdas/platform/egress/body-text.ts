import type { IncomingHttpHeaders } from 'node:http';
import { maximumBodyBytes } from './truncated-body.ts';

/** Masks secrets in a text. `isTruncated`: whether the text was cut. If it was cut, its end may be part of a secret. */
export type Redact = (text: string, isTruncated: boolean) => string;

/**
 * Returns the beginning of a body as redacted text of at most 1 KiB in UTF-8. A body with a content encoding is not decoded: its text
 * is its encoding and size.
 */
export function bodyText(body: Buffer, isTruncated: boolean, headers: IncomingHttpHeaders, redact: Redact): string {
  const encoding = body.length > 0 ? encodingIn(headers['content-encoding']) : '';
  const text = encoding
    ? redact(`[${encoding}, ${isTruncated ? 'over ' : ''}${body.length} bytes]`, false)
    : redactedText(body, isTruncated, headers['content-type'], redact);
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maximumBodyBytes)).read);
}

/** Returns the encodings that a header names besides `identity`; nothing if they are malformed. */
function encodingIn(header = ''): string {
  if (header.length > maxEncoding) return '';
  const encodings = header
    .split(',')
    .map(encoding => encoding.trim())
    .filter(encoding => !/^(?:identity)?$/i.test(encoding));
  return encodings.every(encoding => /^[\w.+-]+$/.test(encoding)) ? encodings.join(', ') : '';
}

/** A header of this many characters names more encodings than any server applies. */
const maxEncoding = 64;

/** Decodes by the declared charset, or by UTF-8 if that is unknown. Leaves out a character that is cut in two. */
function redactedText(body: Buffer, isTruncated: boolean, contentType = '', redact: Redact): string {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  const decoder = decoderFor(charset, body);
  // The body may be in another charset than it declares. Decoding would then hide a credential that can be read back.
  const bytes =
    decoder.encoding === 'utf-8' ? body : Buffer.from(redact(body.toString('latin1'), isTruncated), 'latin1');
  return redact(decoder.decode(bytes, { stream: isTruncated }), isTruncated);
}

function decoderFor(charset: string, body: Buffer) {
  try {
    const decoder = new TextDecoder(charset);
    // Java writes UTF-16 as big-endian after a mark; `TextDecoder` takes the name for little-endian.
    const isBigEndian = decoder.encoding === 'utf-16le' && body[0] === 0xfe && body[1] === 0xff;
    return isBigEndian ? new TextDecoder('utf-16be') : decoder;
  } catch {
    return new TextDecoder();
  }
}
