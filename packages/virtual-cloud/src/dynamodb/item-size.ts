import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './attribute-values.ts';
import { significantDigits } from './decimal.ts';
import { validationError } from './errors.ts';

/**
 * Returns the size of an item as AWS counts it, in bytes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(item: Attributes): number {
  let size = 0;
  for (const name in item) {
    const { [name]: value } = item;
    if (value !== undefined) size += bytesOf(name) + valueSize(value);
  }
  return size;
}

/** @throws ValidationException for an item of over 400 KB. */
export function checkItemSize(item: Attributes, message = 'Item size has exceeded the maximum allowed size'): number {
  const size = itemSize(item);
  if (size > largestItem) throw validationError(message);
  return size;
}

const largestItem = 400 * 1_024;

function valueSize(value: AttributeValue): number {
  if (value.S !== undefined) return bytesOf(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return value.B.length;
  if (value.L !== undefined) return value.L.reduce((sum, element) => sum + 1 + valueSize(element), 3);
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemSize(value.M);
  if (value.SS !== undefined) return sum(value.SS, bytesOf);
  if (value.NS !== undefined) return sum(value.NS, numberSize);
  if (value.BS !== undefined) return sum(value.BS, bytes => bytes.length);
  return 1;
}

function sum<Member>(members: readonly Member[], sizeOf: (member: Member) => number): number {
  return members.reduce((total, member) => total + sizeOf(member), 0);
}

/** A byte for two digits, one for the exponent, one for a minus. */
function numberSize(number: string): number {
  return Math.ceil(significantDigits(number) / 2) + (number.startsWith('-') ? 2 : 1);
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
