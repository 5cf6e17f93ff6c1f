import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, compareValues, orderedTypes, type Placeholders, typeOf } from './attribute-values.ts';
import { notKnown, validationError } from './refusals.ts';
import { isReserved } from './reserved-words.ts';
import { tokensOf } from './tokens.ts';

/** The way to a value of an item: names, and places in lists. */
export type Path = readonly (string | number)[];

/** A test of one value: `dueAt <= :now`, `begins_with(id, :start)`, `attribute_exists(id)`. */
export interface Test {
  readonly path: Path;
  /** As DynamoDB writes it: `<=`, `BETWEEN`, `attribute_exists`. */
  readonly operator: string;
  readonly given: readonly AttributeValue[];
}

/** Returns the value at a path; `undefined` where there is none. */
export function valueAt(item: Attributes, path: Path): AttributeValue | undefined {
  return path.reduce<AttributeValue | undefined>(
    (value, step) => (typeof step === 'number' ? value?.L?.[step] : value?.M?.[step]),
    { M: item },
  );
}

/** Reads an expression from its beginning on. What it does not expect there is an error that is none of DynamoDB's. */
export function makeReader(text: string, { names, values }: Placeholders) {
  const tokens = tokensOf(text);
  let at = 0;
  return { peek, takes, expect, isOver: () => at >= tokens.length, fail, path, given, test };

  /** Returns the next token, or one after it; an empty one at the end. */
  function peek(ahead = 0): string {
    return tokens[at + ahead] ?? '';
  }

  function next(): string {
    at += 1;
    return tokens[at - 1] ?? '';
  }

  /** Takes the next token where it is this one. */
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
    if (isReserved(peek())) throw validationError(`Attribute name is a reserved keyword; reserved keyword: ${found}`);
    at += 1;
    return found;
  }

  /** Takes a value of the request, of one of these types. */
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
    const values = takes(',') ? [given(['S', 'B'])] : [];
    expect(')');
    return { path: tested, operator, given: values };
  }
}
