/** The output of a command, which is JSON for programs (`--json`) and text for people. */
export interface Report {
  readonly json: unknown;
  readonly text: string;
  /** The error of the command, which is shown after the output. */
  readonly failure?: string;
}

/** The output of a command about one item. The JSON is an object to which commands may add fields. */
export interface ObjectReport extends Report {
  readonly json: Readonly<Record<string, unknown>>;
}

/** A field in the output of a noun. By default, its value is the item's property with the JSON name. */
export type Field<Item> = {
  /** The heading in the text. Tables show it in capitals. A field without a heading appears only in JSON. */
  readonly heading?: string;
  /** The heading in tables, if it is different. */
  readonly column?: string;
  /** Returns the text, if it is different from the value. `undefined` omits the field when one item is shown. */
  readonly text?: (item: Item) => string | undefined;
  /** The maximum length in a table, in characters. `--json` contains the whole value. */
  readonly width?: number;
  /** Limits the field to tables or to single items. By default, both show the field. */
  readonly in?: 'list' | 'show';
} & (
  | { readonly json: string & keyof Item; readonly value?: undefined }
  /** A field without a JSON name appears only in the text. */
  | { readonly json?: string; readonly value: (item: Item) => unknown }
);

/** A heading and a value. */
export type Line = readonly [heading: string, value: string];

/** Creates the functions that format items of a noun as JSON, as a table and as lines. */
export function makeFormatter<Item>(fields: readonly Field<Item>[]) {
  const showFields = fields.filter(field => field.in !== 'list');
  const listFields = fields.filter(field => field.in !== 'show');
  return {
    json,
    lines: linesOf,
    table,
    /** Reports one item in lines. */
    show: (item: Item): ObjectReport => ({ json: json(item), text: linesOf(item) }),
    /** Reports a list. @param isCutOff - true if there are more items. */
    list:
      (whenEmpty: string, isCutOff = false) =>
      (items: readonly Item[]) => {
        const more = isCutOff ? `\n\nOnly the first ${items.length} are shown. Use a larger --limit to see more.` : '';
        return { json: items.map(json), text: table(items, whenEmpty) + more };
      },
    /** Reports a change in a sentence. */
    change: (sentence: (item: Item) => string) => (item: Item) => ({ json: json(item), text: sentence(item) }),
  };

  function json(item: Item): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      fields.flatMap(field => (field.json === undefined ? [] : [[field.json, valueIn(field, item) ?? null]])),
    );
  }

  /** Formats one item with one field on each line, followed by further lines. */
  function linesOf(item: Item, more: readonly Line[] = []): string {
    const fieldLines = showFields.flatMap((field): Line[] => {
      const text = field.heading === undefined ? undefined : textOf(field, item);
      return field.heading === undefined || text === undefined ? [] : [[field.heading, text]];
    });
    return lines([...fieldLines, ...more]);
  }

  /** Formats a table with headings, or returns `whenEmpty` if there are no rows. */
  function table(items: readonly Item[], whenEmpty: string): string {
    if (items.length === 0) return whenEmpty;
    const columns = listFields.flatMap(field => {
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

/** Formats headings and values, one pair on each line. */
export function lines(entries: readonly Line[]): string {
  const width = widthOf(entries.map(([heading]) => heading));
  return entries.map(([heading, value]) => `${heading.padEnd(width)}  ${inOneLine(value)}`).join('\n');
}

/** Escapes control characters in untrusted text except line breaks, because a terminal would interpret them. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, escaped);
}

/** Formats milliseconds since the epoch as an RFC 3339 time in UTC. Returns `null` for `undefined`. */
export function iso(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

/** Returns the length of the longest cell. `Math.max(...cells)` would fail for more than about 125,000 cells. */
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
export function isoSeconds(time: string): string {
  return time.replace(/\.\d{3}Z$/, 'Z');
}

function shortened(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** Returns the text on one line, so that a value cannot forge another line. */
export function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
