import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, wholeNumber } from './attribute-values.ts';
import { validationError } from './errors.ts';
import { makeReader, type Placeholders } from './reader.ts';

/**
 * Returns the new values of the attributes that an update changes, or `undefined` for removed attributes. Operands
 * refer to the item before the update.
 *
 * @throws {ServiceError} if an attribute is changed twice, or a value is missing or has the wrong type
 */
export function changesOf(expression: string, item: Attributes, placeholders: Placeholders) {
  const reader = makeReader(expression, placeholders);
  const changes = new Map<string, AttributeValue | undefined>();
  while (!reader.isAtEnd()) {
    const isSet = reader.accept('SET');
    if (!isSet) reader.expect('REMOVE');
    do change(reader.name(), isSet ? set() : undefined);
    while (reader.accept(','));
  }
  return changes;

  function change(name: string, to: AttributeValue | undefined): void {
    if (changes.has(name))
      throw validationError('Invalid UpdateExpression: Two document paths overlap with each other');
    changes.set(name, to);
  }

  function set(): AttributeValue {
    reader.expect('=');
    const value = operand();
    if (!reader.accept('+')) return value ?? missingOperand();
    return { N: wholeNumber(String(numberIn(value) + numberIn(operand()))) };
  }

  function operand(): AttributeValue | undefined {
    if (reader.peek().startsWith(':')) return reader.value();
    if (reader.peek(1) !== '(') return item[reader.name()];
    reader.expect('if_not_exists');
    reader.expect('(');
    const first = operand();
    reader.expect(',');
    const second = operand();
    reader.expect(')');
    return first ?? second;
  }
}

function numberIn(value: AttributeValue | undefined): number {
  return value ? Number(value.N ?? wrongType()) : missingOperand();
}

function missingOperand(): never {
  throw validationError('The provided expression refers to an attribute that does not exist in the item');
}

function wrongType(): never {
  throw validationError('An operand in the update expression has an incorrect data type');
}
