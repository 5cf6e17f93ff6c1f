import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes, Placeholders } from './attribute-values.ts';
import { addNumbers } from './decimal.ts';
import { makeReader, type Path, valueAt } from './reader.ts';
import { validationError } from './refusals.ts';

/**
 * Returns an item as an update leaves it, and the paths that it changes. All values are read from the item as it was.
 *
 * @throws {ServiceError} where paths overlap, or a value or the place of one does not exist, or has another type.
 */
export function updated(expression: string, item: Attributes, placeholders: Placeholders) {
  const changes = readChanges(expression, item, placeholders);
  const paths = changes.map(({ path }) => path);
  checkOverlaps(paths);
  const sets = changes.filter(({ to }) => to).sort((one, other) => placeOf(one) - placeOf(other)); // of what is appended
  const removals = changes.filter(({ to }) => !to).sort((one, other) => placeOf(other) - placeOf(one)); // in the list as it was
  const whole = [...sets, ...removals].reduce<AttributeValue>((after, { path, to }) => changed(after, path, to), {
    M: item,
  });
  return { after: whole.M ?? {}, paths };
}

interface Change {
  readonly path: Path;
  /** Nothing where it is removed. */
  readonly to?: AttributeValue;
}

function readChanges(expression: string, item: Attributes, placeholders: Placeholders): Change[] {
  const read = makeReader(expression, placeholders);
  const changes: Change[] = [];
  while (!read.isOver()) {
    const isSet = read.takes('SET');
    if (!isSet) read.expect('REMOVE');
    do changes.push(isSet ? set() : { path: read.path() });
    while (read.takes(','));
  }
  return changes;

  function set(): Change {
    const path = read.path();
    read.expect('=');
    const value = operand();
    const sign = read.takes('+') ? '+' : read.takes('-') && '-';
    if (!sign) return { path, to: value ?? missing() };
    return { path, to: { N: addNumbers(numberIn(value), numberIn(operand()), sign) } };
  }

  function operand(): AttributeValue | undefined {
    if (read.peek().startsWith(':')) return read.given();
    if (read.peek(1) !== '(') return valueAt(item, read.path());
    read.expect('if_not_exists');
    read.expect('(');
    const first = operand();
    read.expect(',');
    const second = operand();
    read.expect(')');
    return first ?? second;
  }
}

function placeOf({ path }: Change): number {
  const last = path.at(-1);
  return typeof last === 'number' ? last : -1;
}

/** Returns a value with another, or none, at a path. Nothing that it consists of is changed: others may hold it. */
function changed(value: AttributeValue, [step = '', ...rest]: Path, to: AttributeValue | undefined): AttributeValue {
  const inner = valueAt({ value }, ['value', step]);
  const next = rest.length === 0 ? to : changed(inner ?? noSuchPath(), rest, to);
  if (typeof step === 'number') {
    const list = [...(value.L ?? noSuchPath())];
    list.splice(step, 1, ...(next ? [next] : [])); // beyond the end it is appended
    return { L: list };
  }
  const { [step]: _, ...others } = value.M ?? noSuchPath();
  return { M: next ? { ...others, [step]: next } : others };
}

function checkOverlaps(paths: readonly Path[]): void {
  const texts = paths.map(path => `${JSON.stringify(path).slice(0, -1)},`);
  if (!texts.some((text, at) => texts.some((other, place) => place !== at && other.startsWith(text)))) return;
  throw validationError('Invalid UpdateExpression: Two document paths overlap with each other');
}

function numberIn(value: AttributeValue | undefined): string {
  return value ? (value.N ?? otherType()) : missing();
}

function missing(): never {
  throw validationError('The provided expression refers to an attribute that does not exist in the item');
}

function otherType(): never {
  throw validationError('An operand in the update expression has an incorrect data type');
}

function noSuchPath(): never {
  throw validationError('The document path provided in the update expression is invalid for update');
}
