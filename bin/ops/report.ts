/** The answer of a command: JSON for programs (`--json`) and text for people. */
export interface Report {
  readonly json: unknown;
  readonly text: string;
}

/** One column of a table: its heading, and the cell of a row. */
export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
}

/** Untrusted text, with control characters escaped that a terminal would obey, except line breaks. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, escaped);
}

/** A text table with headings; `whenEmpty` replaces a table without rows. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [
    columns.map(({ heading }) => heading),
    ...rows.map(row => columns.map(({ cell }) => inOneLine(cell(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map(line => line[index]?.length ?? 0)));
  return lines
    .map(line =>
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The fields of one record, one on a line. */
export function fields(entries: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${inOneLine(value)}`).join('\n');
}

/** A moment in milliseconds since the epoch as RFC 3339, UTC; `null` where there is none. */
export function iso(moment: number | undefined): string | null {
  return moment === undefined ? null : new Date(moment).toISOString();
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** The same on one line, so that a value cannot forge another line. */
function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}
