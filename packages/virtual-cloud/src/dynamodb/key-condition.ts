import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { sortText, typeOf } from './attribute-values.ts';
import { notImplemented, validationError } from './errors.ts';
import { checkLength, type KeyAttribute, type KeySchema } from './key-schema.ts';
import { attributeOf, type Placeholders, valueGiven } from './placeholders.ts';
import type { Condition, Operand } from './syntax.ts';

/** What a query reads: a partition, or a stretch of it. */
export interface Stretch {
  readonly hash: AttributeValue;
  /** @default - the whole partition */
  readonly range?: Bounds | undefined;
}

/** The bounds of a stretch. */
export interface Bounds {
  /** Returns whether a range key, by its sort text, comes before the stretch. */
  readonly isBelow: (text: string) => boolean;
  /** Returns whether one comes after it. */
  readonly isAbove: (text: string) => boolean;
}

/** Returns what a key condition asks for. @throws ValidationException for a condition that is none of this key. */
export function readKeyCondition(condition: Condition, key: KeySchema, placeholders: Placeholders): Stretch {
  const parts = condition.kind === 'all' ? condition.parts : [condition];
  const named = new Map(parts.map(part => [nameOf(part, placeholders), part]));
  const equal = named.get(key.hash.name);
  if (!equal) throw validationError(`Query condition missed key schema element: ${key.hash.name}`);
  if (equal.kind !== 'comparison' || equal.operator !== '=') throw notSupported();
  const range = key.range && named.get(key.range.name);
  if (parts.length > (range ? 2 : 1)) throw notSupported();
  return {
    hash: keyValueOf(equal.right, key.hash, placeholders, true),
    range: range && key.range && boundsOf(range, key.range, placeholders),
  };
}

function nameOf(part: Condition, placeholders: Placeholders): string {
  if (part.kind === 'comparison' && part.left.kind === 'attribute') return attributeOf(part.left.path, placeholders);
  if (part.kind === 'between' || part.kind === 'begins') {
    if (part.value.kind === 'attribute') return attributeOf(part.value.path, placeholders);
  }
  throw part.kind === 'comparison' ? notImplemented('key conditions whose value comes first') : notSupported();
}

function boundsOf(condition: Condition, attribute: KeyAttribute, placeholders: Placeholders): Bounds {
  const given = (operand: Operand) => sortText(keyValueOf(operand, attribute, placeholders, false));
  if (condition.kind === 'between') return between(given(condition.low), given(condition.high));
  if (condition.kind === 'begins') return beginning(given(condition.start));
  if (condition.kind !== 'comparison') throw notSupported();
  const bound = given(condition.right);
  switch (condition.operator) {
    case '=':
      return between(bound, bound);
    case '<':
      return { isBelow: never, isAbove: text => text >= bound };
    case '<=':
      return { isBelow: never, isAbove: text => text > bound };
    case '>':
      return { isBelow: text => text <= bound, isAbove: never };
    case '>=':
      return { isBelow: text => text < bound, isAbove: never };
    default:
      throw notSupported();
  }
}

function between(low: string, high: string): Bounds {
  return { isBelow: text => text < low, isAbove: text => text > high };
}

function beginning(start: string): Bounds {
  return {
    isBelow: text => text < start,
    isAbove: text => text > start && !text.startsWith(start),
  };
}

function keyValueOf(
  operand: Operand,
  attribute: KeyAttribute,
  placeholders: Placeholders,
  isHash: boolean,
): AttributeValue {
  const value = valueGiven(operand, placeholders);
  if (!value) throw notSupported();
  if (typeOf(value) !== attribute.type) {
    throw validationError(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    );
  }
  checkLength(attribute, value, isHash);
  return value;
}

function never(): boolean {
  return false;
}

function notSupported(): Error {
  return validationError('Query key condition not supported');
}
