/**
 * Decodes a name or value of a form (RFC 6749 appendix B). Decodes `+` as a space, requires two hexadecimal digits after `%`, and
 * requires the result to be UTF-8 without NUL. Returns `undefined` for malformed input.
 */
export function decodeFormComponent(encoded: Uint8Array): string | undefined {
  const decoded = new Uint8Array(encoded.length);
  let length = 0;
  for (let position = 0; position < encoded.length; position++) {
    let byte = encoded[position] ?? nul;
    if (byte === plus) byte = space;
    else if (byte === percent) {
      byte = hexDigit(encoded[position + 1]) * 16 + hexDigit(encoded[position + 2]);
      if (Number.isNaN(byte)) return undefined;
      position += 2;
    }
    if (byte === nul) return undefined;
    decoded[length++] = byte;
  }
  try {
    return utf8.decode(decoded.subarray(0, length));
  } catch {
    return undefined;
  }
}

export type FormField = readonly [name: string, value: string];

/**
 * Decodes an application/x-www-form-urlencoded body into its fields, in order and including duplicates.
 * Returns `undefined` if any part is malformed.
 */
export function decodeForm(body: Uint8Array): readonly FormField[] | undefined {
  const fields: FormField[] = [];
  for (const field of split(body, ampersand)) {
    if (field.length === 0) continue;
    const separatorAt = field.indexOf(equals);
    const name = decodeFormComponent(separatorAt === -1 ? field : field.subarray(0, separatorAt));
    const value = decodeFormComponent(separatorAt === -1 ? new Uint8Array() : field.subarray(separatorAt + 1));
    if (name === undefined || value === undefined) return undefined;
    fields.push([name, value]);
  }
  return fields;
}

const nul = 0x00;

const plus = 0x2b;

const space = 0x20;
const percent = 0x25;

function hexDigit(byte: number | undefined): number {
  return byte === undefined ? Number.NaN : Number.parseInt(String.fromCharCode(byte), 16);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function split(bytes: Uint8Array, separator: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(separator); end !== -1; end = bytes.indexOf(separator, start)) {
    parts.push(bytes.subarray(start, end));
    start = end + 1;
  }
  parts.push(bytes.subarray(start));
  return parts;
}

const ampersand = 0x26;

const equals = 0x3d;
