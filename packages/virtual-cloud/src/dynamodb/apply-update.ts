import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, typeOf } from './attribute-values.ts';
import { addNumbers, subtractNumbers } from './decimal.ts';
import { checkOverlaps, valueAt } from './document-paths.ts';
import { validationError } from './errors.ts';
import { type Placeholders, resolvePath, valueGiven } from './placeholders.ts';
import type { NewValue, Path, Update } from './syntax.ts';

/**
 * Returns the paths that an update changes, resolved.
 *
 * @throws ValidationException where two overlap, or a value of the request has a type that an operator does not take.
 */
export function changedPaths({ sets, removals }: Update, placeholders: Placeholders): Path[] {
  for (const { value } of sets) checkTypes(value, placeholders);
  const paths = [...sets.map(({ path }) => path), ...removals].map(path => resolvePath(path, placeholders));
  checkOverlaps(paths, 'UpdateExpression');
  return paths;
}

/**
 * Returns an item as an update leaves it. All values are read from the item as it was.
 *
 * @throws ValidationException where a value or the place of one does not exist, or has another type.
 */
export function updated(item: Attributes, { sets, removals }: Update, placeholders: Placeholders): Attributes {
  const after: Record<string, AttributeValue> = { ...item };
  const changes = sets.map(({ path, value }) => ({
    path: resolvePath(path, placeholders),
    value: newValue(value, item, placeholders),
  }));
  changes.sort((one, other) => placeOf(one.path) - placeOf(other.path)); // what is appended stands in the order of its places
  for (const { path, value } of changes) change(after, path, value);
  const removed = removals.map(path => resolvePath(path, placeholders));
  removed.sort((one, other) => placeOf(other) - placeOf(one)); // the places are those of the list as it was
  for (const path of removed) change(after, path, undefined);
  return after;
}

function checkTypes(value: NewValue, placeholders: Placeholders): void {
  if (value.kind === 'value' || value.kind === 'attribute') return;
  if (value.kind === 'unless') {
    checkTypes(value.otherwise, placeholders);
    return;
  }
  for (const operand of [value.left, value.right]) {
    checkTypes(operand, placeholders);
    const given = operand.kind === 'value' ? valueGiven(operand, placeholders) : undefined;
    if (given && typeOf(given) !== operandTypes[value.kind]) {
      throw validationError(
        `Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: ${value.kind}, operand type: ${typeOf(given)}`,
      );
    }
  }
}

const operandTypes = { append: 'L', sum: 'N', difference: 'N' };

function newValue(value: NewValue, item: Attributes, placeholders: Placeholders): AttributeValue {
  switch (value.kind) {
    case 'value':
      return valueGiven(value, placeholders) ?? missing();
    case 'attribute':
      return valueAt(item, resolvePath(value.path, placeholders)) ?? missing();
    case 'unless':
      return valueAt(item, resolvePath(value.path, placeholders)) ?? newValue(value.otherwise, item, placeholders);
    case 'append': {
      const left = newValue(value.left, item, placeholders);
      const right = newValue(value.right, item, placeholders);
      return { L: [...(left.L ?? otherType()), ...(right.L ?? otherType())] };
    }
    default: {
      const left = newValue(value.left, item, placeholders).N ?? otherType();
      const right = newValue(value.right, item, placeholders).N ?? otherType();
      return { N: value.kind === 'sum' ? addNumbers(left, right) : subtractNumbers(left, right) };
    }
  }
}

function change(item: Record<string, AttributeValue>, [name, ...rest]: Path, to: AttributeValue | undefined): void {
  const attribute = String(name);
  const next = rest.length === 0 ? to : changed(item[attribute] ?? noSuchPath(), rest, to);
  if (next) item[attribute] = next;
  else delete item[attribute];
}

/** Returns a value with another, or none, at a path. Nothing that it consists of is changed: others may hold it. */
function changed(value: AttributeValue, [step, ...rest]: Path, to: AttributeValue | undefined): AttributeValue {
  if (typeof step !== 'number') {
    const map = { ...(value.M ?? noSuchPath()) };
    change(map, [String(step), ...rest], to);
    return { M: map };
  }
  const list = [...(value.L ?? noSuchPath())];
  const next = rest.length === 0 ? to : changed(list[step] ?? noSuchPath(), rest, to);
  list.splice(step, 1, ...(next ? [next] : [])); // beyond the end it is appended
  return { L: list };
}

function placeOf(path: Path): number {
  const last = path.at(-1);
  return typeof last === 'number' ? last : -1;
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
