import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Attributes, areEqual, beginsWith, compareValues, typeOf } from './attribute-values.ts';
import { valueAt } from './document-paths.ts';
import { validationError } from './errors.ts';
import { type Placeholders, resolvePath, valueGiven } from './placeholders.ts';
import type { Comparison, Condition, Operand } from './syntax.ts';

/** Returns whether a condition holds for an item. One that does not exist is one without attributes. */
export function holds(condition: Condition, item: Attributes, placeholders: Placeholders): boolean {
  return isTrue(condition);

  function isTrue(part: Condition): boolean {
    switch (part.kind) {
      case 'all':
        return part.parts.every(isTrue);
      case 'any':
        return part.parts.some(isTrue);
      case 'not':
        return !isTrue(part.part);
      case 'exists':
        return valueAt(item, resolvePath(part.path, placeholders)) !== undefined;
      case 'missing':
        return valueAt(item, resolvePath(part.path, placeholders)) === undefined;
      case 'begins': {
        const [value, start] = [read(part.value), read(part.start)];
        return value !== undefined && start !== undefined && beginsWith(value, start);
      }
      case 'between': {
        const value = read(part.value);
        return compare(value, '>=', read(part.low)) && compare(value, '<=', read(part.high));
      }
      case 'in': {
        const value = read(part.value);
        return part.options.some(option => compare(value, '=', read(option)));
      }
      case 'comparison':
        return compare(read(part.left), part.operator, read(part.right));
    }
  }

  function read(operand: Operand): AttributeValue | undefined {
    return operand.kind === 'value'
      ? valueGiven(operand, placeholders)
      : valueAt(item, resolvePath(operand.path, placeholders));
  }
}

/** @throws ValidationException where a value of the request has a type that an operator does not take, or bounds have no order. */
export function checkOperands(condition: Condition, placeholders: Placeholders): void {
  switch (condition.kind) {
    case 'all':
    case 'any':
      for (const part of condition.parts) checkOperands(part, placeholders);
      return;
    case 'not':
      checkOperands(condition.part, placeholders);
      return;
    case 'begins':
      checkTypes([condition.value, condition.start], 'begins_with', ['S', 'B'], placeholders);
      return;
    case 'between': {
      checkTypes([condition.value, condition.low, condition.high], 'BETWEEN', ordered, placeholders);
      checkBounds(valueGiven(condition.low, placeholders), valueGiven(condition.high, placeholders));
      return;
    }
    case 'comparison':
      if (condition.operator === '=' || condition.operator === '<>') return;
      checkTypes([condition.left, condition.right], condition.operator, ordered, placeholders);
      return;
    default:
      return;
  }
}

const ordered = ['S', 'N', 'B'];

function compare(one: AttributeValue | undefined, operator: Comparison, other: AttributeValue | undefined): boolean {
  const isEqual = one !== undefined && other !== undefined && areEqual(one, other);
  if (operator === '=') return isEqual;
  if (operator === '<>') return !isEqual;
  const order = one && other && compareValues(one, other);
  if (order === undefined) return false;
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

function checkTypes(
  operands: readonly Operand[],
  operator: string,
  types: readonly string[],
  placeholders: Placeholders,
): void {
  for (const operand of operands) {
    const value = valueGiven(operand, placeholders);
    if (value && !types.includes(typeOf(value))) {
      throw validationError(
        `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${typeOf(value)}`,
      );
    }
  }
}

function checkBounds(low: AttributeValue | undefined, high: AttributeValue | undefined): void {
  if (!low || !high) return;
  const order = compareValues(low, high);
  if (order === undefined) {
    throw validationError('The BETWEEN operator requires same data type for lower and upper bounds');
  }
  if (order > 0) {
    throw validationError('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
  }
}
