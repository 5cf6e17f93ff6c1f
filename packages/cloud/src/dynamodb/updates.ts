import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, wholeNumber } from './attribute-values.ts';
import { makeReader, type Placeholders } from './reader.ts';
import { validationError } from './refusals.ts';

/**
 * Returns the new values of the attributes that an update changes, or `undefined` for removed attributes. Operands
 * refer to the item before the update.
 *
 * @throws {ServiceError} if an attribute is changed twice, or a value is missing or has the wrong type
 */
export function changesOf(expression: string, item: Attributes, placeholders: Placeholders) {
  const read = makeReader(expression, placeholders);
  const changes = new Map<string, AttributeValue | undefined>();
  while (!read.isOver()) {
    const isSet = read.takes('SET');
    if (!isSet) read.expect('REMOVE');
    do change(read.name(), isSet ? set() : undefined);
    while (read.takes(','));
  }
  return changes;

  function change(name: string, to: AttributeValue | undefined): void {
    if (changes.has(name))
      throw validationError('Invalid UpdateExpression: Two document paths overlap with each other');
    changes.set(name, to);
  }

  function set(): AttributeValue {
    read.expect('=');
    const value = operand();
    if (!read.takes('+')) return value ?? missing();
    return { N: wholeNumber(String(numberIn(value) + numberIn(operand()))) };
  }

  function operand(): AttributeValue | undefined {
    if (read.peek().startsWith(':')) return read.given();
    if (read.peek(1) !== '(') return item[read.name()];
    read.expect('if_not_exists');
    read.expect('(');
    const first = operand();
    read.expect(',');
    const second = operand();
    read.expect(')');
    return first ?? second;
  }
}

function numberIn(value: AttributeValue | undefined): number {
  return value ? Number(value.N ?? otherType()) : missing();
}

function missing(): never {
  throw validationError('The provided expression refers to an attribute that does not exist in the item');
}

function otherType(): never {
  throw validationError('An operand in the update expression has an incorrect data type');
}
