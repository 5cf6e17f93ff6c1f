/**
 * Refuses what a pattern of a text may not be: it judges input of strangers in linear time, and means the same in JavaScript,
 * Python and JSON Schema. Such a pattern is a sequence of ASCII characters and classes of them between `^` and `$`, each with a
 * count. Wherever a count may end, the next character says whether it does.
 *
 * @throws where the pattern is another; the error says what to mend.
 */
export function checkPattern(field: string, { source, flags }: RegExp): void {
  const fault = faultOf(source, flags);
  if (fault !== undefined) throw new Error(`The pattern of ${field} ${fault}: /${source}/${flags}`);
}

function faultOf(source: string, flags: string): string | undefined {
  if (flags !== '') return 'has flags, which JSON Schema does not have';
  const [, inner] = /^\^(.+)\$$/.exec(source) ?? [];
  if (inner === undefined) return 'does not begin with ^ and end with $';
  const parts = partsOf(inner);
  if (!parts)
    return 'is more than ASCII characters and classes, each with one count, and no \\, ^, [, &, | or ~ in a class';
  const at = parts.findIndex((_, index) => isAmbiguous(parts, index));
  return at === -1 ? undefined : `is ambiguous: where "${parts[at]?.text}" ends, what follows may go on`;
}

/** A character or a class, with its count. */
interface Part {
  readonly text: string;
  readonly characters: ReadonlySet<string>;
  readonly least: number;
  readonly most: number;
}

function partsOf(inner: string): readonly Part[] | undefined {
  const found = [...inner.matchAll(part)];
  if (found.map(([text]) => text).join('') !== inner) return undefined;
  return found.map(([text, members = '', character = '', sign = '{1}']) => ({
    text,
    characters: new Set(character || charactersOf(members)),
    ...countOf(sign),
  }));
}

/** A backslash, and in a class also a bracket, ^, &, | and ~, are left out: languages differ in what they mean there. */
const memberOfClass = "[ !-%'-,.-Z_-z{}]";
const membersOfClass = `-?(?:${memberOfClass}(?:-${memberOfClass})?)+-?`;
const characterAlone = '[ !"#%&\',0-9:;<=>@A-Z_`a-z~-]';
const count = '[?*+]|\\{[0-9]+(?:,[0-9]*)?\\}';
const part = new RegExp(`(?:\\[(${membersOfClass})\\]|(${characterAlone}))(${count})?`, 'g');

function charactersOf(classMembers: string): readonly string[] {
  const isIn = new RegExp(`[${classMembers}]`);
  return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter(ascii => isIn.test(ascii));
}

function countOf(sign: string): { readonly least: number; readonly most: number } {
  const short = { '?': '{0,1}', '*': '{0,}', '+': '{1,}' }[sign] ?? sign;
  const [least = '', most = least] = short.slice(1, -1).split(',');
  return { least: Number(least), most: most === '' ? Number.POSITIVE_INFINITY : Number(most) };
}

/** Returns whether a part of variable length shares a character with one that may come right after it. */
function isAmbiguous(parts: readonly Part[], index: number): boolean {
  const [first, ...others] = parts.slice(index);
  if (!first || first.least === first.most) return false;
  const needed = others.findIndex(({ least }) => least > 0);
  const following = needed === -1 ? others : others.slice(0, needed + 1);
  return following.some(({ characters }) => !characters.isDisjointFrom(first.characters));
}
