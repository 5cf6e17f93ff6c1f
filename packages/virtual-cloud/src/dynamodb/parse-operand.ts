import { validationError } from './errors.ts';
import type { Operand, Path } from './syntax.ts';
import type { Tokens } from './tokens.ts';

/** Parses an attribute, or a value of the request. */
export function parseOperand(tokens: Tokens): Operand {
  if (!tokens.peek().startsWith(':')) return { kind: 'attribute', path: parsePath(tokens) };
  const placeholder = tokens.next();
  tokens.values.add(placeholder);
  return { kind: 'value', placeholder };
}

/** Parses the way to a value: `name`, `#n0[3]`, `map.field`. */
export function parsePath(tokens: Tokens): Path {
  const path: (string | number)[] = [parseName(tokens)];
  for (;;) {
    if (tokens.takes('.')) path.push(parseName(tokens));
    else if (tokens.takes('[')) {
      path.push(parsePlace(tokens));
      tokens.expect(']');
    } else return path;
  }
}

/** Takes what stands between parentheses, with commas. */
export function parseList<Part>(tokens: Tokens, parse: (tokens: Tokens) => Part): Part[] {
  const parts = [parse(tokens)];
  while (tokens.takes(',')) parts.push(parse(tokens));
  return parts;
}

function parseName(tokens: Tokens): string {
  const name = tokens.peek();
  if (name.startsWith('#')) tokens.names.add(name);
  else if (/^[A-Za-z_]/.test(name)) tokens.words.add(name);
  else tokens.refuse();
  return tokens.next();
}

function parsePlace(tokens: Tokens): number {
  if (!/^\d{1,9}$/.test(tokens.peek()))
    throw validationError(`List index is not within the allowable range: ${tokens.peek()}`);
  return Number(tokens.next());
}
