import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './attribute-values.ts';
import { canonicalNumber } from './decimal.ts';
import { validationError } from './errors.ts';

/**
 * Returns a value as DynamoDB would keep it: numbers in canonical form, bytes of its own.
 *
 * @throws ValidationException for numbers, sets and depths that DynamoDB refuses.
 */
export function admitted(value: AttributeValue, depth = 0): AttributeValue {
  if (value.S !== undefined) return value;
  if (value.N !== undefined) {
    const N = canonicalNumber(value.N);
    return N === value.N ? value : { N };
  }
  if (value.L === undefined && value.M === undefined) return admittedFlat(value);
  if (depth > deepest) throw validationError('Nesting Levels have exceeded supported limits');
  if (value.L !== undefined) return { L: value.L.map(element => admitted(element, depth + 1)) };
  return { M: admittedAttributes(value.M, depth + 1) };
}

/** Returns attributes as DynamoDB would keep them. @throws ValidationException as for a value. */
function admittedAttributes(attributes: Attributes, depth = 0): Record<string, AttributeValue> {
  const kept: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(attributes)) kept[name] = admitted(value, depth);
  return kept;
}

/** Returns a value whose bytes the reader may change: nothing else of it can be reached. */
export function released(value: AttributeValue): AttributeValue {
  if (value.B !== undefined) return { B: Uint8Array.from(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(bytes => Uint8Array.from(bytes)) };
  if (value.L !== undefined) return { L: value.L.map(released) };
  if (value.M === undefined) return value;
  return { M: Object.fromEntries(Object.entries(value.M).map(([name, inner]) => [name, released(inner)])) };
}

/** The levels below a value. */
const deepest = 32;

function admittedFlat(value: AttributeValue): AttributeValue {
  if (value.B !== undefined) return { B: new Uint8Array(value.B) };
  if (value.NS !== undefined) return { NS: admittedSet(value.NS.map(canonicalNumber), member => member) };
  if (value.SS !== undefined) return { SS: admittedSet(value.SS, member => member) };
  if (value.BS !== undefined) {
    const members = value.BS.map(bytes => new Uint8Array(bytes));
    return { BS: admittedSet(members, bytes => Buffer.from(bytes).toString('base64')) };
  }
  return value;
}

function admittedSet<Member>(members: readonly Member[], textOf: (member: Member) => string): Member[] {
  if (members.length === 0) {
    throw validationError('One or more parameter values were invalid: An string set  may not be empty');
  }
  if (new Set(members.map(textOf)).size < members.length) {
    throw validationError('One or more parameter values were invalid: Input collection contains duplicates.');
  }
  return [...members];
}
