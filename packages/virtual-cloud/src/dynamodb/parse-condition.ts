import { notImplemented } from './errors.ts';
import { parseList, parseOperand, parsePath } from './parse-operand.ts';
import type { Comparison, Condition } from './syntax.ts';
import type { Tokens } from './tokens.ts';

/** Parses a condition. `OR` binds less than `AND`, and that less than `NOT`. */
export function parseCondition(tokens: Tokens): Condition {
  const parts = [parseAll(tokens)];
  while (tokens.takesWord('OR')) parts.push(parseAll(tokens));
  return joined('any', parts);
}

function parseAll(tokens: Tokens): Condition {
  const parts = [parseNot(tokens)];
  while (tokens.takesWord('AND')) parts.push(parseNot(tokens));
  return joined('all', parts);
}

function joined(kind: 'all' | 'any', parts: readonly Condition[]): Condition {
  const [first] = parts;
  return first && parts.length === 1 ? first : { kind, parts };
}

function parseNot(tokens: Tokens): Condition {
  if (tokens.takesWord('NOT')) return { kind: 'not', part: parseNot(tokens) };
  if (!tokens.takes('(')) return tokens.peek(1) === '(' ? parseFunction(tokens) : parseComparison(tokens);
  const inner = parseCondition(tokens);
  tokens.expect(')');
  return inner;
}

function parseFunction(tokens: Tokens): Condition {
  const name = tokens.next();
  tokens.expect('(');
  const parsed = parseArguments(name, tokens);
  tokens.expect(')');
  return parsed;
}

function parseArguments(name: string, tokens: Tokens): Condition {
  switch (name) {
    case 'attribute_exists':
      return { kind: 'exists', path: parsePath(tokens) };
    case 'attribute_not_exists':
      return { kind: 'missing', path: parsePath(tokens) };
    case 'begins_with': {
      const value = parseOperand(tokens);
      tokens.expect(',');
      return { kind: 'begins', value, start: parseOperand(tokens) };
    }
    default:
      throw notImplemented(`the function ${name}`);
  }
}

function parseComparison(tokens: Tokens): Condition {
  const left = parseOperand(tokens);
  if (tokens.takesWord('BETWEEN')) {
    const low = parseOperand(tokens);
    if (!tokens.takesWord('AND')) tokens.refuse();
    return { kind: 'between', value: left, low, high: parseOperand(tokens) };
  }
  if (tokens.takesWord('IN')) {
    tokens.expect('(');
    const options = parseList(tokens, parseOperand);
    tokens.expect(')');
    return { kind: 'in', value: left, options };
  }
  const operator = comparisons.find(known => known === tokens.peek()) ?? tokens.refuse();
  tokens.next();
  return { kind: 'comparison', operator, left, right: parseOperand(tokens) };
}

const comparisons: readonly Comparison[] = ['=', '<>', '<', '<=', '>', '>='];
