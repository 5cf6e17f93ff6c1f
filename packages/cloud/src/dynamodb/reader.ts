import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, compareValues, orderedTypes, typeOf } from './attribute-values.ts';
import { notKnown, validationError } from './refusals.ts';

/** The attribute names and values that the placeholders of a request represent. */
export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Attributes;
}

/** Returns the placeholders of a request. @throws {ServiceError} if no expression uses a placeholder */
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
  readonly given: readonly AttributeValue[];
}

/** Creates a parser that reads an expression token by token. An unexpected token throws an error that DynamoDB does not have. */
export function makeReader(text: string, { names, values }: Placeholders) {
  const tokens = tokensOf(text);
  let at = 0;
  return { peek, takes, expect, isOver: () => at >= tokens.length, fail, name, given, test };

  /** Returns the next token or a later one, or an empty string at the end. */
  function peek(ahead = 0): string {
    return tokens[at + ahead] ?? '';
  }

  function next(): string {
    at += 1;
    return tokens[at - 1] ?? '';
  }

  /** Consumes the next token if it equals the passed one. Returns whether it did. */
  function takes(token: string): boolean {
    if (peek().toUpperCase() !== token.toUpperCase()) return false;
    at += 1;
    return true;
  }

  function expect(token: string): void {
    if (!takes(token)) fail();
  }

  function fail(): never {
    throw notKnown(`"${peek()}" after "${tokens.slice(0, at).join(' ')}" in an expression`);
  }

  function path(): Path {
    const steps: (string | number)[] = [name()];
    for (;;) {
      if (takes('.')) steps.push(name());
      else if (takes('[')) {
        steps.push(/^\d{1,9}$/.test(peek()) ? Number(next()) : fail());
        expect(']');
      } else return steps;
    }
  }

  function name(): string {
    const found = peek().startsWith('#') ? names[peek()] : /^[A-Za-z_]\w*$/.exec(peek())?.[0];
    if (found === undefined) fail();
    at += 1;
    return found;
  }

  /** Consumes a placeholder and returns its value. @throws {ServiceError} if the value has none of the types */
  function given(types?: readonly string[]): AttributeValue {
    const { [peek()]: value } = values;
    if (!value) fail();
    at += 1;
    if (!types || types.includes(typeOf(value))) return value;
    throw validationError(`Incorrect operand type for operator or function; operand type: ${typeOf(value)}`);
  }

  function test(): Test {
    if (peek(1) === '(') return functionTest();
    const tested = path();
    const operator = next().toUpperCase();
    if (operator === '=' || operator === '<>') return { path: tested, operator, given: [given()] };
    const first = given(orderedTypes);
    if (operator !== 'BETWEEN') return { path: tested, operator, given: [first] };
    expect('AND');
    const last = given(orderedTypes);
    if (!(compareValues(first, last) <= 0)) {
      throw validationError('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
    }
    return { path: tested, operator, given: [first, last] };
  }

  function functionTest(): Test {
    const operator = next();
    expect('(');
    const tested = path();
    expect(')');
    return { path: tested, operator, given: [] };
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
