/**
 * Rejects unsafe or ambiguous patterns. A pattern must match untrusted input in linear time, and mean the same in
 * JavaScript, Python and JSON Schema. It is a sequence of ASCII characters and classes between `^` and `$`, each with a
 * count. The next character decides whether a count ends.
 *
 * @throws if the pattern has another form. The error describes the correction.
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
  if (!parts)
    return 'is more than ASCII characters and classes, each with one count, and no \\, ^, [, &, | or ~ in a class';
  const at = parts.findIndex((_, index) => isAmbiguous(parts, index));
  return at === -1 ? undefined : `is ambiguous: the part after "${parts[at]?.text}" may continue it`;
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

/** Excludes the backslash, and in classes brackets, ^, &, | and ~, whose meanings differ between languages. */
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

/** Returns whether a part of variable length shares a character with one that may follow it. */
function isAmbiguous(parts: readonly Part[], index: number): boolean {
  const [first, ...others] = parts.slice(index);
  if (!first || first.least === first.most) return false;
  const needed = others.findIndex(({ least }) => least > 0);
  const following = needed === -1 ? others : others.slice(0, needed + 1);
  return following.some(({ characters }) => !characters.isDisjointFrom(first.characters));
}
