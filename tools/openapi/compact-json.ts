/** Formats a document as JSON. A value that does not fit on one line has each member on a separate line. */
export function compactJson(document: unknown): string {
  return `${print(JSON.parse(JSON.stringify(document)), '', 0)}\n`;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const lineLength = 140;

/**
 * @param indent - the indent of the line on which the value starts
 * @param before - the number of other characters on that line
 */
function print(value: Json, indent: string, before: number): string {
  const line = onOneLine(value);
  if (typeof value !== 'object' || value === null || indent.length + before + line.length <= lineLength) return line;
  const inner = `${indent}  `;
  const [open, close, members] = Array.isArray(value)
    ? ['[', ']', value.map(member => print(member, inner, 1))]
    : ['{', '}', Object.entries(value).map(([name, member]) => printProperty(name, member, inner))];
  return `${open}\n${members.map(member => inner + member).join(',\n')}\n${indent}${close}`;
}

function printProperty(name: string, value: Json, indent: string): string {
  const label = `${JSON.stringify(name)}: `;
  return label + print(value, indent, label.length + 1);
}

function onOneLine(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
