import { type Characters, hexadecimalValue } from './json-escapes.ts';

/** The characters that a text has percent-encoded (RFC 3986 section 2.1), or as an HTML reference. */
export interface EncodedCharacters {
  /** For each index, the UTF-16 unit for which stands what begins there; -1 where that is no encoded character. */
  readonly units: Int32Array;
  /** For each index where an encoded character begins, where it ends. */
  readonly ends: Uint32Array;
  /** Where an encoded character begins that the text's end may cut off. */
  readonly cut: ReadonlySet<number>;
}

/**
 * Finds the encoded characters that begin anywhere in a text, whatever stands before them: the bytes of UTF-8 or Latin-1
 * percent-encoded, and references, decimal, hexadecimal or by a name. Looks at each character a limited number of times.
 */
export function findEncodedCharacters(text: Characters): EncodedCharacters {
  const units = new Int32Array(text.length).fill(-1);
  const ends = new Uint32Array(text.length);
  const cut = new Set<number>();
  for (let index = 0; index < text.length; index++) {
    const first = text.charCodeAt(index);
    if (first !== percent && first !== ampersand) continue;
    const found = first === percent ? percentEncodedAt(text, index) : referenceAt(text, index);
    if (found.isCut) cut.add(index);
    // The second half of a character beyond 16 bits stands within what encodes it.
    if (found.character === undefined || units[index] !== -1) continue;
    const { character, end, middle } = found;
    set(index, character > 0xffff ? 0xd7c0 + (character >> 10) : character, character > 0xffff ? middle : end);
    if (character > 0xffff) set(middle, 0xdc00 + (character & 0x3ff), end);
  }
  return { units, ends, cut };

  function set(index: number, unit: number, end: number): void {
    units[index] = unit;
    ends[index] = end;
  }
}

/** What begins at an index: an encoded character, or what the text's end may have cut off one, or both. */
interface Found {
  readonly character?: number;
  readonly end: number;
  /** An index within it at which nothing else begins. */
  readonly middle: number;
  readonly isCut: boolean;
}

/** Reads `%C3%A7`. A byte that begins no character of UTF-8 is one of Latin-1. */
function percentEncodedAt(text: Characters, start: number): Found {
  const first = byteAt(text, start);
  const middle = start + 2 * percentLength;
  if (typeof first === 'string') return { end: start, middle, isCut: first === 'cut' };
  const length = lengthFrom(first);
  let character = length === 1 ? first : first & (0xff >> (length + 1));
  for (let more = 1; more < length; more++) {
    const byte = byteAt(text, start + more * percentLength);
    if (typeof byte === 'string' || byte >> 6 !== 0b10) {
      return { character: first, end: start + percentLength, middle, isCut: byte === 'cut' };
    }
    character = (character << 6) | (byte & 0x3f);
  }
  return { character, end: start + length * percentLength, middle, isCut: false };
}

/** Returns the byte that is percent-encoded at an index, or why there is none. */
function byteAt(text: Characters, start: number): number | 'none' | 'cut' {
  if (start >= text.length) return 'cut';
  if (text.charCodeAt(start) !== percent) return 'none';
  let byte = 0;
  for (let index = start + 1; index < start + percentLength; index++) {
    if (index >= text.length) return 'cut';
    const digit = hexadecimalValue(text.charCodeAt(index));
    if (digit === undefined) return 'none';
    byte = byte * 16 + digit;
  }
  return byte;
}

/** Returns the number of bytes of the UTF-8 character that a byte begins; 1 where it begins none. */
function lengthFrom(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** Reads a character reference (HTML section 13.2.5.72): `&#61;`, `&#x3D;`, `&equals;`. */
function referenceAt(text: Characters, start: number): Found {
  if (text.charCodeAt(start + 1) === numberSign) return numericReferenceAt(text, start);
  let name = '';
  let end = start + 1;
  for (; end < text.length && name.length < longestName && isLetterOrDigit(text.charCodeAt(end)); end++) {
    name += String.fromCharCode(text.charCodeAt(end));
  }
  const isCut = end === text.length && [...names.keys()].some(known => known.startsWith(name));
  const middle = start + 1;
  const character = names.get(name);
  if (character !== undefined && text.charCodeAt(end) === semicolon) return { character, end: end + 1, middle, isCut };
  for (let length = Math.min(name.length, longestOpenName); length > 1; length--) {
    const open = name.slice(0, length);
    if (openNames.has(open)) return { character: names.get(open) ?? 0, end: start + 1 + length, middle, isCut };
  }
  return { end: start, middle, isCut };
}

function numericReferenceAt(text: Characters, start: number): Found {
  const isHexadecimal = (text.charCodeAt(start + 2) | 0x20) === letterX;
  const base = isHexadecimal ? 16 : 10;
  const digitsAt = start + (isHexadecimal ? 3 : 2);
  let end = digitsAt;
  let character = 0;
  for (; end < text.length; end++) {
    const digit = hexadecimalValue(text.charCodeAt(end));
    if (digit === undefined || digit >= base) break;
    character = Math.min(character * base + digit, beyondUnicode);
  }
  const isCut = end >= text.length;
  const middle = start + 1;
  if (end <= digitsAt || character === beyondUnicode) return { end: start, middle, isCut };
  return { character, end: text.charCodeAt(end) === semicolon ? end + 1 : end, middle, isCut };
}

function isLetterOrDigit(code: number): boolean {
  const letter = code | 0x20; // lower case
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x7a);
}

const percent = 0x25;
const ampersand = 0x26;
const numberSign = 0x23;
const semicolon = 0x3b;
const letterX = 0x78;
const percentLength = 3;
const beyondUnicode = 0x110000;

/** The names of visible ASCII (HTML section 13.5). */
const asciiNames = {
  '!': 'excl',
  '"': 'quot QUOT',
  '#': 'num',
  $: 'dollar',
  '%': 'percnt',
  '&': 'amp AMP',
  "'": 'apos',
  '(': 'lpar',
  ')': 'rpar',
  '*': 'ast midast',
  '+': 'plus',
  ',': 'comma',
  '.': 'period',
  '/': 'sol',
  ':': 'colon',
  ';': 'semi',
  '<': 'lt LT',
  '=': 'equals',
  '>': 'gt GT',
  '?': 'quest',
  '@': 'commat',
  '[': 'lsqb lbrack',
  '\\': 'bsol',
  ']': 'rsqb rbrack',
  '^': 'Hat',
  _: 'lowbar UnderBar',
  '`': 'grave DiacriticalGrave',
  '{': 'lcub lbrace',
  '|': 'verbar vert VerticalLine',
  '}': 'rcub rbrace',
};

/** The names of Latin-1 from U+00A0 on, one each: what Basic encodes may be in any language. */
const latin1Names =
  `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml
Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute
acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide
oslash ugrave uacute ucirc uuml yacute thorn yuml`.split(/\s/);

const names: ReadonlyMap<string, number> = new Map([
  ...Object.entries(asciiNames).flatMap(([character, all]) =>
    all.split(' ').map((name): [string, number] => [name, character.charCodeAt(0)]),
  ),
  ...latin1Names.map((name, index): [string, number] => [name, 0xa0 + index]),
]);

/** Names that stand for their character without a semicolon, too. */
const openNames: ReadonlySet<string> = new Set(['quot', 'QUOT', 'amp', 'AMP', 'lt', 'LT', 'gt', 'GT', ...latin1Names]);

const longestName = Math.max(...[...names.keys()].map(name => name.length));
const longestOpenName = Math.max(...[...openNames].map(name => name.length));
