import { notImplemented } from './errors.ts';
import { parseList, parseOperand, parsePath } from './parse-operand.ts';
import type { NewValue, Path, Update } from './syntax.ts';
import type { Tokens } from './tokens.ts';

/** Parses an update: `SET` and `REMOVE`, each once at most. */
export function parseUpdate(tokens: Tokens): Update {
  let sets: Update['sets'] | undefined;
  let removals: readonly Path[] | undefined;
  while (!tokens.isOver()) {
    const clause = tokens.peek().toUpperCase();
    if (clause === 'ADD' || clause === 'DELETE') throw notImplemented(`updates by ${clause}`);
    if (tokens.takesWord('SET') && !sets) sets = parseList(tokens, parseSet);
    else if (tokens.takesWord('REMOVE') && !removals) removals = parseList(tokens, parsePath);
    else tokens.refuse();
  }
  return { sets: sets ?? [], removals: removals ?? [] };
}

function parseSet(tokens: Tokens): Update['sets'][number] {
  const path = parsePath(tokens);
  tokens.expect('=');
  return { path, value: parseSum(tokens) };
}

function parseSum(tokens: Tokens): NewValue {
  const left = parseValue(tokens);
  if (tokens.takes('+')) return { kind: 'sum', left, right: parseValue(tokens) };
  if (tokens.takes('-')) return { kind: 'difference', left, right: parseValue(tokens) };
  return left;
}

function parseValue(tokens: Tokens): NewValue {
  if (tokens.peek(1) !== '(') return parseOperand(tokens);
  const name = tokens.next();
  tokens.expect('(');
  const value = parseArguments(name, tokens);
  tokens.expect(')');
  return value;
}

function parseArguments(name: string, tokens: Tokens): NewValue {
  switch (name) {
    case 'if_not_exists': {
      const path = parsePath(tokens);
      tokens.expect(',');
      return { kind: 'unless', path, otherwise: parseValue(tokens) };
    }
    case 'list_append': {
      const left = parseValue(tokens);
      tokens.expect(',');
      return { kind: 'append', left, right: parseValue(tokens) };
    }
    default:
      throw notImplemented(`the function ${name}`);
  }
}
