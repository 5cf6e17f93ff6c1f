import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, areEqual, compareTexts, compareValues, sortText } from './attribute-values.ts';
import { checkKeyValue, type Key, type KeyAttribute } from './keys.ts';
import { makeReader, type Path, type Placeholders, type Test } from './reader.ts';
import { notKnown, validationError } from './refusals.ts';

/**
 * Returns whether an item meets a condition. A missing item is treated as an item without attributes.
 *
 * @throws {ServiceError} if an operator does not support a value's type, or bounds have no order.
 */
export function holds(condition: string, item: Attributes, placeholders: Placeholders): boolean {
  const read = makeReader(condition, placeholders);
  const isTrue = any();
  if (!read.isOver()) read.fail();
  return isTrue;

  /** `OR` has lower precedence than `AND`. Both operands are always parsed. */
  function any(): boolean {
    let isAny = all();
    while (read.takes('OR')) isAny = all() || isAny;
    return isAny;
  }

  function all(): boolean {
    let areAll = one();
    while (read.takes('AND')) areAll = one() && areAll;
    return areAll;
  }

  function one(): boolean {
    if (!read.takes('(')) return passes(read.test(), item);
    const isAny = any();
    read.expect(')');
    return isAny;
  }
}

/** The part of a table or an index that a query reads, which is a partition or a range of its sort keys. */
export interface Stretch {
  readonly hash: AttributeValue;
  /** Compares a sort text with the range. Returns a negative number before the range, 0 in it, and a positive number after it. */
  readonly side: (text: string) => number;
}

/** Parses a key condition. @throws {ServiceError} if a value is invalid in a key */
export function readKeyCondition(condition: string, [hashKey, rangeKey]: Key, placeholders: Placeholders): Stretch {
  const read = makeReader(condition, placeholders);
  const tests = [read.test()];
  while (read.takes('AND')) tests.push(read.test());
  if (!read.isOver()) read.fail();
  const of = (attribute: KeyAttribute | undefined) => tests.find(({ path }) => path[0] === attribute?.name);
  const [hash, range] = [of(hashKey), of(rangeKey)];
  const [value] = hash?.given ?? [];
  if (!value || hash?.operator !== '=' || tests.length > (range ? 2 : 1)) {
    throw validationError('Query condition missed key schema element');
  }
  checkKeyValue(hashKey, value);
  for (const bound of range?.given ?? []) if (rangeKey) checkKeyValue(rangeKey, bound);
  return { hash: value, side: range ? sideOf(range) : () => 0 };
}

function passes({ path, operator, given: [one] }: Test, item: Attributes): boolean {
  const { [operator]: test } = tests;
  if (!test) throw notKnown(`the operator ${operator}`);
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

function sideOf({ operator, given }: Test): Stretch['side'] {
  const { [operator]: side } = sides;
  if (!side) throw notKnown(`the operator ${operator} in a key condition`);
  const [one, other] = given.map(sortText);
  return text => side(text, one, other);
}

const sides: Readonly<Record<string, (text: string, one?: string, other?: string) => number>> = {
  '=': compareTexts,
  '<=': (text, end) => Math.max(0, compareTexts(text, end)),
  BETWEEN: (text, low, high) => Math.min(0, compareTexts(text, low)) + Math.max(0, compareTexts(text, high)),
};
