/** Returns whether a text is that of a row, with any values in its places. */
export function says(text: string, row: string): boolean {
  const parts = row.split(/\{\w+\}/);
  return parts.length === 1 ? text === row : text.startsWith(parts[0] ?? '') && text.endsWith(parts.at(-1) ?? '');
}
