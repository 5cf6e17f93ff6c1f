/**
 * Rejects unsafe patterns. A pattern must match in linear time, and have the same meaning in JavaScript, Python and JSON
 * Schema. It must be a sequence of ASCII characters and classes between `^` and `$`, each with an optional quantifier. The next
 * character must decide whether a repetition ends.
 *
 * @throws if the pattern is unsafe
 */
export function checkPattern(field: string, { source, flags }: RegExp): void {
  const fault = faultOf(source, flags);
  if (fault !== undefined) throw new Error(`The pattern of ${field} ${fault}: /${source}/${flags}`);
}

function faultOf(source: string, flags: string): string | undefined {
  if (flags !== '') return 'has flags, which JSON Schema does not have';
  const [, inner] = /^\^(.+)\$$/.exec(source) ?? [];
  if (inner === undefined) return 'does not start with ^ and end with $';
  const parts = partsOf(inner);
  if (!parts) return 'contains more than ASCII characters, classes and quantifiers, or \\, ^, [, &, | or ~ in a class';
  const at = parts.findIndex((_, index) => isAmbiguous(parts, index));
  return at === -1 ? undefined : `is ambiguous: the part after "${parts[at]?.text}" may continue it`;
}

/** A character or a class, and its quantifier. */
interface Part {
  readonly text: string;
  readonly characters: ReadonlySet<string>;
  readonly min: number;
  readonly max: number;
}

function partsOf(inner: string): readonly Part[] | undefined {
  const parts = [...inner.matchAll(part)];
  if (parts.map(([text]) => text).join('') !== inner) return undefined;
  return parts.map(([text, members = '', character = '', sign = '{1}']) => ({
    text,
    characters: new Set(character || charactersOf(members)),
    ...countOf(sign),
  }));
}

/** The allowed members of a class. Backslashes, brackets, ^, &, | and ~ have different meanings in different languages. */
const memberOfClass = "[ !-%'-,.-Z_-z{}]";
const membersOfClass = `-?(?:${memberOfClass}(?:-${memberOfClass})?)+-?`;
const singleCharacter = '[ !"#%&\',0-9:;<=>@A-Z_`a-z~-]';
const quantifier = '[?*+]|\\{[0-9]+(?:,[0-9]*)?\\}';
const part = new RegExp(`(?:\\[(${membersOfClass})\\]|(${singleCharacter}))(${quantifier})?`, 'g');

function charactersOf(classMembers: string): readonly string[] {
  const isIn = new RegExp(`[${classMembers}]`);
  return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter(ascii => isIn.test(ascii));
}

function countOf(sign: string): { readonly min: number; readonly max: number } {
  const short = { '?': '{0,1}', '*': '{0,}', '+': '{1,}' }[sign] ?? sign;
  const [min = '', max = min] = short.slice(1, -1).split(',');
  return { min: Number(min), max: max === '' ? Number.POSITIVE_INFINITY : Number(max) };
}

/** Returns whether a part of variable length shares a character with a part that may follow it. */
function isAmbiguous(parts: readonly Part[], index: number): boolean {
  const [first, ...others] = parts.slice(index);
  if (!first || first.min === first.max) return false;
  const needed = others.findIndex(({ min }) => min > 0);
  const following = needed === -1 ? others : others.slice(0, needed + 1);
  return following.some(({ characters }) => !characters.isDisjointFrom(first.characters));
}
