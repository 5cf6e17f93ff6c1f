/** The text that is read: a string, or an object with which a test counts the looks. */
export type Characters = Pick<string, 'length' | 'charCodeAt'>;

/** A text without its JSON escapes, and where everything in it came from. */
export interface Unescaped {
  readonly text: string;
  /**
   * Where each character begins in the source; it ends where the next one begins. The last entry is where the text ends
   * there: the source's length, or the beginning of an escape that the source's end cuts off.
   */
  readonly starts: Uint32Array;
}

/**
 * Undoes the escapes of JSON strings (RFC 8259 section 7) wherever they stand, since what a receiver answers need not be
 * JSON. A backslash that begins no escape stays what it is. Looks at each character a fixed number of times.
 */
export function withoutJsonEscapes(source: Characters): Unescaped {
  const characters: string[] = [];
  const starts = new Uint32Array(source.length + 1);
  let index = 0;
  while (index < source.length) {
    const { character, length } = characterAt(source, index);
    if (character === undefined) break;
    starts[characters.length] = index;
    characters.push(character);
    index += length;
  }
  starts[characters.length] = index;
  return { text: characters.join(''), starts: starts.subarray(0, characters.length + 1) };
}

/** Returns the character that begins at an index, and how long it is in the source; no character: the end cuts an escape off. */
function characterAt(source: Characters, index: number): { character: string | undefined; length: number } {
  const first = source.charCodeAt(index);
  const plain = { character: String.fromCharCode(first), length: 1 };
  if (first !== backslash) return plain;
  if (index + 1 === source.length) return { character: undefined, length: 1 };
  const second = source.charCodeAt(index + 1);
  if (second !== letterU) {
    const meaning = shortEscapes.get(second);
    return meaning === undefined ? plain : { character: meaning, length: 2 };
  }
  let unit = 0;
  for (let offset = 2; offset < 6; offset++) {
    if (index + offset === source.length) return { character: undefined, length: offset };
    const digit = hexadecimalValue(source.charCodeAt(index + offset));
    if (digit === undefined) return plain;
    unit = unit * 16 + digit;
  }
  return { character: String.fromCharCode(unit), length: 6 };
}

const backslash = 0x5c;
const letterU = 0x75;

const shortEscapes: ReadonlyMap<number, string> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), meaning],
  ),
);

export function hexadecimalValue(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20; // lower case
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined;
}
