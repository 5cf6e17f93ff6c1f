/** The answer of a command: JSON for programs (`--json`) and text for people. */
export interface Report {
  readonly json: unknown;
  readonly text: string;
  /** The error with which the command ends after it has shown the answer. */
  readonly failure?: string;
}

/** The answer of a command that is about one thing: its JSON is an object, to which more may be added. */
export interface ObjectReport extends Report {
  readonly json: Readonly<Record<string, unknown>>;
}

/** One field of a noun. Its value is the item's of that name in JSON, unless it says another. */
export type Field<Item> = {
  /** Its heading for people, in capitals in a table. Without one only programs are shown it. */
  readonly heading?: string;
  /** Its heading in a table, where that is another one. */
  readonly column?: string;
  /** Its text for people, where that is not the value; `undefined` leaves it out where one item is shown. */
  readonly text?: (item: Item) => string | undefined;
  /** Its maximum length in a table, in characters. `--json` has the whole value. */
  readonly width?: number;
  /** The place where people are shown it; in both by default. */
  readonly in?: 'list' | 'show';
} & (
  | { readonly json: string & keyof Item; readonly value?: undefined }
  /** Without a name in JSON only people are shown it. */
  | { readonly json?: string; readonly value: (item: Item) => unknown }
);

/** A heading and a value. */
export type Line = readonly [heading: string, value: string];

/** Creates the shape of a noun, which writes its JSON, its table and its lines. */
export function makeShape<Item>(fields: readonly Field<Item>[]) {
  const shown = fields.filter(field => field.in !== 'list');
  const listed = fields.filter(field => field.in !== 'show');
  return {
    json,
    lines: linesOf,
    table,
    /** Reports one item in lines. */
    show: (item: Item): ObjectReport => ({ json: json(item), text: linesOf(item) }),
    /** Reports a list. @param isCutOff - whether there are more items, which the text for people says. */
    list:
      (whenEmpty: string, isCutOff = false) =>
      (items: readonly Item[]) => {
        const more = isCutOff ? `\n\nOnly the first ${items.length} are shown. A larger --limit shows more.` : '';
        return { json: items.map(json), text: table(items, whenEmpty) + more };
      },
    /** Reports a change: a sentence for people. */
    tell: (sentence: (item: Item) => string) => (item: Item) => ({ json: json(item), text: sentence(item) }),
  };

  function json(item: Item): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      fields.flatMap(field => (field.json === undefined ? [] : [[field.json, valueIn(field, item) ?? null]])),
    );
  }

  /** Writes one item, a field on a line, and further lines. */
  function linesOf(item: Item, more: readonly Line[] = []): string {
    const own = shown.flatMap((field): Line[] => {
      const text = field.heading === undefined ? undefined : textOf(field, item);
      return field.heading === undefined || text === undefined ? [] : [[field.heading, text]];
    });
    return lines([...own, ...more]);
  }

  /** Writes a table with headings; `whenEmpty` replaces a table without rows. */
  function table(items: readonly Item[], whenEmpty: string): string {
    if (items.length === 0) return whenEmpty;
    const columns = listed.flatMap(field => {
      const { column = field.heading, width = Number.POSITIVE_INFINITY } = field;
      const cells = items.map(item => shortened(inOneLine(textOf(field, item) ?? '-'), width));
      return column === undefined ? [] : [[column.toUpperCase(), ...cells]];
    });
    const widths = columns.map(widthOf);
    return Array.from({ length: items.length + 1 }, (_, row) =>
      columns
        .map((cells, index) => (cells[row] ?? '').padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    ).join('\n');
  }
}

/** Headings and values, one on a line. */
export function lines(entries: readonly Line[]): string {
  const width = widthOf(entries.map(([heading]) => heading));
  return entries.map(([heading, value]) => `${heading.padEnd(width)}  ${inOneLine(value)}`).join('\n');
}

/** Untrusted text, with control characters escaped that a terminal would obey, except line breaks. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, escaped);
}

/** Returns a moment in milliseconds since the epoch as RFC 3339, UTC; `null` where there is none. */
export function iso(moment: number | undefined): string | null {
  return moment === undefined ? null : new Date(moment).toISOString();
}

/** `Math.max(...cells)` would fail beyond some 125,000 cells. */
function widthOf(cells: readonly string[]): number {
  return cells.reduce((widest, { length }) => Math.max(widest, length), 0);
}

function textOf<Item>(field: Field<Item>, item: Item): string | undefined {
  if (field.text) return field.text(item);
  const value = valueIn(field, item) ?? '-';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function valueIn<Item>(field: Field<Item>, item: Item): unknown {
  return field.value ? field.value(item) : item[field.json];
}

/** Returns an RFC 3339 time without its milliseconds. */
export function isoSeconds(moment: string): string {
  return moment.replace(/\.\d{3}Z$/, 'Z');
}

function shortened(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** Returns the same on one line, so that a value cannot forge another line. */
export function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
