/** The text that a search looks at: a string, or an object with which a test counts the looks. */
export type Characters = Pick<string, 'length' | 'charCodeAt'>;

/** The places where a text holds another. */
export interface Occurrences {
  /** The places where the occurrences begin, in rising order. Occurrences may overlap. */
  readonly starts: readonly number[];
  /** The number of characters at the end of the text that begin one more occurrence, which the end cuts off. */
  readonly remnant: number;
}

/**
 * Finds every occurrence by the algorithm of Knuth, Morris and Pratt: whatever the two texts are, it looks at a number of
 * characters that is linear in their lengths. `indexOf` promises no such thing.
 */
export function findOccurrences(needle: Characters, text: Characters): Occurrences {
  const starts: number[] = [];
  if (needle.length === 0) return { starts, remnant: 0 };
  const borders = bordersOf(needle);
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    matched = extend(needle, borders, matched, text.charCodeAt(index));
    if (matched < needle.length) continue;
    starts.push(index + 1 - matched);
    matched = borders[matched - 1] ?? 0;
  }
  return { starts, remnant: matched };
}

/** For each beginning of the needle, the length of its longest border: a shorter beginning that is also its end. */
function bordersOf(needle: Characters): Uint32Array {
  const borders = new Uint32Array(needle.length);
  let matched = 0;
  for (let index = 1; index < needle.length; index++) {
    matched = extend(needle, borders, matched, needle.charCodeAt(index));
    borders[index] = matched;
  }
  return borders;
}

/** Returns how much of the needle has matched after one more character. Each step back takes away what an earlier call added. */
function extend(needle: Characters, borders: Uint32Array, before: number, character: number): number {
  let matched = before;
  while (matched > 0 && needle.charCodeAt(matched) !== character) matched = borders[matched - 1] ?? 0;
  return needle.charCodeAt(matched) === character ? matched + 1 : matched;
}
