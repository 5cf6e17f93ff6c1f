import type { EncodedCharacters } from './encoded-characters.ts';
import type { Characters } from './json-escapes.ts';

/** A text, each of whose characters may be read as it stands or as a part of an encoded one. */
export interface ReadableText {
  readonly text: Characters;
  readonly encoded: EncodedCharacters;
  /** True when the text goes on, so that its end may cut off an occurrence. */
  readonly isCut: boolean;
}

/** Is told of occurrences, which may overlap. */
export interface OccurrenceMarks {
  /** An occurrence begins at this index. */
  begin(index: number): void;
  /** An occurrence that began before this index goes on. */
  goOn(index: number): void;
  /** What is between these indexes is one character of an occurrence, or the rest of one that is cut off. */
  join(start: number, end: number): void;
}

/**
 * Finds every occurrence of these secrets in which any character may be encoded; `+` and `/` may be those of base64url, and `=` at
 * the end may be missing. What begins like an encoded character may also stand for itself, as a secret may hold `%41`: there are many
 * ways to read a text, and this follows all of them at once. For each place of the text it has the set of the secrets' beginnings that
 * end there (the bit-parallel Shift-And algorithm of Baeza-Yates and Gonnet). The way back keeps those that are completed. Whatever
 * the text holds, it takes two steps for each of its characters, each an operation for 32 characters of the secrets.
 */
export function findOccurrences(secrets: Iterable<string>, readable: ReadableText, marks: OccurrenceMarks): void {
  const { text, encoded, isCut } = readable;
  const mayOccur = (secret: string) => secret !== '' && (isCut || lengthWithoutPadding(secret) <= text.length);
  // Of a longer secret only a beginning can occur, cut off by the end: the rest would cost time for nothing.
  const beginnings = [...secrets].filter(mayOccur).map(secret => secret.slice(0, text.length + 1));
  const { width, empty, whole, unfinished, before } = compile(beginnings);
  if (width === 0) return;
  /** For each place a set of beginnings. The empty ones, which end at every place, are not in it on the way there. */
  const sets = new Int32Array((text.length + 1) * width);
  const kept = new Int32Array(width);
  for (let place = 0; place < text.length; place++) {
    read(place, place + 1, text.charCodeAt(place));
    if (isEncoded(place)) read(place, encoded.ends[place] ?? 0, encoded.units[place] ?? 0);
  }
  for (let place = text.length; place >= 0; place--) keepCompleted(place);

  function isEncoded(place: number): boolean {
    return (encoded.units[place] ?? -1) >= 0;
  }

  /** Lengthens the beginnings at a place by a character, and adds them where that ends. */
  function read(place: number, end: number, character: number): void {
    const continued = before.get(character);
    if (!continued) return;
    let from = place * width;
    let to = end * width;
    let carry = 0;
    for (let word = 0; word < width; word++, from++, to++) {
      const lengthened = ((sets[from] ?? 0) | (empty[word] ?? 0)) & (continued[word] ?? 0);
      sets[to] = (sets[to] ?? 0) | (lengthened << 1) | carry;
      carry = lengthened >>> 31;
    }
  }

  /** Keeps of a place's beginnings those that are completed: by what was kept behind it, by the end of a secret, or by the cut. */
  function keepCompleted(place: number): void {
    const isOpen = isCut && (place === text.length || encoded.cut.has(place));
    kept.fill(0);
    if (isOpen) marks.join(place, text.length);
    if (place < text.length) keepRead(place, place + 1, text.charCodeAt(place));
    if (isEncoded(place)) keepRead(place, encoded.ends[place] ?? 0, encoded.units[place] ?? 0);
    let at = place * width;
    let begun = 0;
    let goesOn = 0;
    for (let word = 0; word < width; word++, at++) {
      const set = (sets[at] ?? 0) | (empty[word] ?? 0);
      const completed = isOpen ? set : (kept[word] ?? 0);
      begun |= completed & (empty[word] ?? 0);
      goesOn |= completed & (unfinished[word] ?? 0);
      sets[at] = (kept[word] ?? 0) | (set & (isOpen ? ~0 : (whole[word] ?? 0)));
    }
    if (goesOn !== 0) marks.goOn(place);
    if (begun !== 0) marks.begin(place);
  }

  /** Keeps beginnings that this character leads to one that was kept. */
  function keepRead(place: number, end: number, character: number): void {
    const continued = before.get(character);
    if (!continued) return;
    let from = place * width + width - 1;
    let to = end * width + width - 1;
    let all = 0;
    let carry = 0;
    for (let word = width - 1; word >= 0; word--, from--, to--) {
      const lengthened = sets[to] ?? 0;
      const led = ((sets[from] ?? 0) | (empty[word] ?? 0)) & (continued[word] ?? 0) & ((lengthened >>> 1) | carry);
      kept[word] = (kept[word] ?? 0) | led;
      all |= led;
      carry = lengthened << 31;
    }
    if (all !== 0) marks.join(place, end);
  }
}

/**
 * Gives each beginning of each secret a bit, and returns sets of them: the empty ones, the whole ones, those between, and for each
 * character those before it.
 */
function compile(secrets: readonly string[]) {
  const width = secrets.reduce((words, { length }) => words + wordsFor(length), 0);
  const newSet = () => new Int32Array(width);
  const [empty, whole, unfinished] = [newSet(), newSet(), newSet()];
  const before = new Map<number, Int32Array>();
  let first = 0;
  for (const secret of secrets) {
    const addTo = (set: Int32Array, length: number) => add(set, (first + length) >>> 5, 1 << ((first + length) & 31));
    const addBefore = (character: number, length: number) => {
      const set = before.get(character) ?? newSet();
      before.set(character, set);
      addTo(set, length);
    };
    addTo(empty, 0);
    for (let length = 1; length < secret.length; length++) addTo(unfinished, length);
    for (let length = lengthWithoutPadding(secret); length <= secret.length; length++) addTo(whole, length);
    for (let length = 0; length < secret.length; length++) {
      addBefore(secret.charCodeAt(length), length);
      const inUrls = base64Url[secret[length] ?? ''];
      if (inUrls !== undefined) addBefore(inUrls.charCodeAt(0), length);
    }
    first += wordsFor(secret.length) * 32;
  }
  return { width, empty, whole, unfinished, before };
}

/** The words that hold the beginnings of a secret, the empty one and itself among them. */
function wordsFor(length: number): number {
  return (length >>> 5) + 1;
}

function add(set: Int32Array, word: number, bits = 0): void {
  set[word] = (set[word] ?? 0) | bits;
}

/** The length of a secret without the `=` at its end. One that is nothing else is left whole. */
function lengthWithoutPadding(secret: string): number {
  let length = secret.length;
  while (secret[length - 1] === '=') length -= 1;
  return length === 0 ? secret.length : length;
}

/** The characters that base64url has in the place of others (RFC 4648 section 5). */
const base64Url: Readonly<Record<string, string>> = { '+': '-', '/': '_' };
