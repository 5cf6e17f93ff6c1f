import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, areEqual, compareTexts, compareValues, sortText } from './attribute-values.ts';
import { unsupported, validationError } from './errors.ts';
import { checkKeyValue, type Key, type KeyAttribute } from './keys.ts';
import { makeReader, type Path, type Placeholders, type Test } from './reader.ts';

/**
 * Returns whether an item meets a condition. A missing item is treated as an item without attributes.
 *
 * @throws {ServiceError} if an operator does not support a value's type, or the bounds of `BETWEEN` are out of order
 */
export function meetsCondition(condition: string, item: Attributes, placeholders: Placeholders): boolean {
  const reader = makeReader(condition, placeholders);
  const isTrue = parseOr();
  if (!reader.isAtEnd()) reader.fail();
  return isTrue;

  /** `OR` has lower precedence than `AND`. Both operands are always parsed. */
  function parseOr(): boolean {
    let result = parseAnd();
    while (reader.accept('OR')) result = parseAnd() || result;
    return result;
  }

  function parseAnd(): boolean {
    let result = parseTerm();
    while (reader.accept('AND')) result = parseTerm() && result;
    return result;
  }

  function parseTerm(): boolean {
    if (!reader.accept('(')) return passes(reader.test(), item);
    const result = parseOr();
    reader.expect(')');
    return result;
  }
}

/** The range of items that a query reads: a partition of a table or index, or a range of its sort keys. */
export interface KeyRange {
  readonly hash: AttributeValue;
  /** Returns a negative number if a sort text precedes the range, 0 if it is in the range, and a positive number if it follows the range. */
  readonly compare: (text: string) => number;
}

/** Parses a key condition. @throws {ServiceError} if a key value is invalid */
export function readKeyCondition(condition: string, [hashKey, rangeKey]: Key, placeholders: Placeholders): KeyRange {
  const reader = makeReader(condition, placeholders);
  const tests = [reader.test()];
  while (reader.accept('AND')) tests.push(reader.test());
  if (!reader.isAtEnd()) reader.fail();
  const of = (attribute: KeyAttribute | undefined) => tests.find(({ path }) => path[0] === attribute?.name);
  const [hash, range] = [of(hashKey), of(rangeKey)];
  const [value] = hash?.operands ?? [];
  if (!value || hash?.operator !== '=' || tests.length > (range ? 2 : 1)) {
    throw validationError('Query condition missed key schema element');
  }
  checkKeyValue(hashKey, value);
  for (const bound of range?.operands ?? []) if (rangeKey) checkKeyValue(rangeKey, bound);
  return { hash: value, compare: range ? comparisonOf(range) : () => 0 };
}

function passes({ path, operator, operands: [one] }: Test, item: Attributes): boolean {
  const { [operator]: test } = tests;
  if (!test) throw unsupported(`the operator ${operator}`);
  return test(valueAt(item, path), one);
}

/** Returns the value at a path, or `undefined`. */
function valueAt(item: Attributes, path: Path): Value {
  return path.reduce<Value>((value, step) => (typeof step === 'number' ? value?.L?.[step] : value?.M?.[step]), {
    M: item,
  });
}

type Value = AttributeValue | undefined;

const tests: Readonly<Record<string, (value: Value, one: Value) => boolean>> = {
  attribute_exists: value => value !== undefined,
  attribute_not_exists: value => value === undefined,
  '=': areEqual,
  '<>': (value, other) => !areEqual(value, other),
  '<': (value, other) => compareValues(value, other) < 0,
  '<=': (value, other) => compareValues(value, other) <= 0,
  '>': (value, other) => compareValues(value, other) > 0,
};

function comparisonOf({ operator, operands }: Test): KeyRange['compare'] {
  const { [operator]: compare } = comparisons;
  if (!compare) throw unsupported(`the operator ${operator} in a key condition`);
  const [one, other] = operands.map(sortText);
  return text => compare(text, one, other);
}

const comparisons: Readonly<Record<string, (text: string, one?: string, other?: string) => number>> = {
  '=': compareTexts,
  '<=': (text, end) => Math.max(0, compareTexts(text, end)),
  BETWEEN: (text, low, high) => Math.min(0, compareTexts(text, low)) + Math.max(0, compareTexts(text, high)),
};
