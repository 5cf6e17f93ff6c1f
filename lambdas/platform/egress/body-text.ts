import type { IncomingHttpHeaders } from 'node:http';
import { maximumBodyBytes } from './truncated-body.ts';

/** Masks secrets in a text. A truncated text may end within a secret. */
export type Redact = (text: string, isTruncated: boolean) => string;

/**
 * Returns the start of a body as redacted text of at most 1 KiB in UTF-8. For a body with a content encoding, returns the encoding and the
 * size instead.
 */
export function bodyText(body: Buffer, isTruncated: boolean, headers: IncomingHttpHeaders, redact: Redact): string {
  const encoding = body.length > 0 ? encodingIn(headers['content-encoding']) : '';
  const text = encoding
    ? redact(`[${encoding}, ${isTruncated ? 'over ' : ''}${body.length} bytes]`, false)
    : redactedText(body, isTruncated, headers['content-type'], redact);
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maximumBodyBytes)).read);
}

/** Returns the encodings in a header, except `identity`, or an empty string if the header is malformed. */
function encodingIn(header = ''): string {
  if (header.length > maxEncoding) return '';
  const encodings = header
    .split(',')
    .map(encoding => encoding.trim())
    .filter(encoding => !/^(?:identity)?$/i.test(encoding));
  return encodings.every(encoding => /^[\w.+-]+$/.test(encoding)) ? encodings.join(', ') : '';
}

/** The maximum length of the header in characters. It is enough for all real encodings. */
const maxEncoding = 64;

/** Decodes a body in its declared charset, or as UTF-8 if the charset is unknown. Drops an incomplete character at a truncated end. */
function redactedText(body: Buffer, isTruncated: boolean, contentType = '', redact: Redact): string {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  const decoder = decoderFor(charset, body);
  // If the body is not in its declared charset, decoding would hide a credential that readers could recover.
  const bytes =
    decoder.encoding === 'utf-8' ? body : Buffer.from(redact(body.toString('latin1'), isTruncated), 'latin1');
  return redact(decoder.decode(bytes, { stream: isTruncated }), isTruncated);
}

function decoderFor(charset: string, body: Buffer) {
  try {
    const decoder = new TextDecoder(charset);
    // Java encodes UTF-16 as big-endian with a byte order mark, but `TextDecoder` decodes `utf-16` as little-endian.
    const isBigEndian = decoder.encoding === 'utf-16le' && body[0] === 0xfe && body[1] === 0xff;
    return isBigEndian ? new TextDecoder('utf-16be') : decoder;
  } catch {
    return new TextDecoder();
  }
}
