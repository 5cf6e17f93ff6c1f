import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, compareValues, orderedTypes, typeOf } from './attribute-values.ts';
import { unsupported, validationError } from './errors.ts';

/** The attribute names and values that the placeholders of a request represent. */
export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Attributes;
}

/** Returns the placeholders of a request. @throws {ServiceError} if a placeholder is unused */
export function placeholdersOf(request: ExpressionsRequest): Placeholders {
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = request;
  const used = expressions.flatMap(expression => tokensOf(request[expression] ?? ''));
  const unused = [...Object.keys(names), ...Object.keys(values)].find(placeholder => !used.includes(placeholder));
  if (unused === undefined) return { names, values };
  throw validationError(`Value provided in ExpressionAttribute… unused in expressions: keys: {${unused}}`);
}

/** The path to a value in an item, as attribute names and list indexes. */
export type Path = readonly (string | number)[];

/** A test of one value, such as `dueAt <= :now` or `attribute_exists(id)`. */
export interface Test {
  readonly path: Path;
  /** The operator as DynamoDB writes it, such as `<=`, `BETWEEN` or `attribute_exists`. */
  readonly operator: string;
  readonly operands: readonly AttributeValue[];
}

/** Creates a parser that reads an expression token by token. It throws a non-DynamoDB error for an unexpected token. */
export function makeReader(text: string, { names, values }: Placeholders) {
  const tokens = tokensOf(text);
  let at = 0;
  return { peek, accept, expect, isAtEnd: () => at >= tokens.length, fail, name, value, test };

  /** Returns the next token or a later one, or an empty string at the end. */
  function peek(ahead = 0): string {
    return tokens[at + ahead] ?? '';
  }

  function next(): string {
    at += 1;
    return tokens[at - 1] ?? '';
  }

  /** Consumes the next token if it equals `token`. Returns whether it consumed the token. */
  function accept(token: string): boolean {
    if (peek().toUpperCase() !== token.toUpperCase()) return false;
    at += 1;
    return true;
  }

  function expect(token: string): void {
    if (!accept(token)) fail();
  }

  function fail(): never {
    throw unsupported(`"${peek()}" after "${tokens.slice(0, at).join(' ')}" in an expression`);
  }

  function path(): Path {
    const steps: (string | number)[] = [name()];
    for (;;) {
      if (accept('.')) steps.push(name());
      else if (accept('[')) {
        steps.push(/^\d{1,9}$/.test(peek()) ? Number(next()) : fail());
        expect(']');
      } else return steps;
    }
  }

  function name(): string {
    const attribute = peek().startsWith('#') ? names[peek()] : /^[A-Za-z_]\w*$/.exec(peek())?.[0];
    if (attribute === undefined) fail();
    at += 1;
    return attribute;
  }

  /** Consumes a placeholder and returns its value. @throws {ServiceError} if `types` does not contain the type of the value */
  function value(types?: readonly string[]): AttributeValue {
    const { [peek()]: operand } = values;
    if (!operand) fail();
    at += 1;
    if (!types || types.includes(typeOf(operand))) return operand;
    throw validationError(`Incorrect operand type for operator or function; operand type: ${typeOf(operand)}`);
  }

  function test(): Test {
    if (peek(1) === '(') return functionTest();
    const attributePath = path();
    const operator = next().toUpperCase();
    if (operator === '=' || operator === '<>') return { path: attributePath, operator, operands: [value()] };
    const first = value(orderedTypes);
    if (operator !== 'BETWEEN') return { path: attributePath, operator, operands: [first] };
    expect('AND');
    const last = value(orderedTypes);
    if (!(compareValues(first, last) <= 0)) {
      throw validationError('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
    }
    return { path: attributePath, operator, operands: [first, last] };
  }

  function functionTest(): Test {
    const operator = next();
    expect('(');
    const attributePath = path();
    expect(')');
    return { path: attributePath, operator, operands: [] };
  }
}

const expressions = [
  'ConditionExpression',
  'FilterExpression',
  'KeyConditionExpression',
  'ProjectionExpression',
  'UpdateExpression',
] as const;

/** The expressions of a request, and their placeholders. */
type ExpressionsRequest = { readonly [expression in (typeof expressions)[number]]?: string | undefined } & {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Attributes | undefined;
};

/** The tokens of each expression. The cache is unbounded, because programs use few expressions. */
const cache = new Map<string, readonly string[]>();

/** Splits an expression into tokens. An unknown character becomes a separate token, which the parser rejects. */
function tokensOf(text: string): readonly string[] {
  const tokens = cache.get(text) ?? text.match(/[#:]?\w+|<>|<=|>=|\S/g) ?? [];
  cache.set(text, tokens);
  return tokens;
}
