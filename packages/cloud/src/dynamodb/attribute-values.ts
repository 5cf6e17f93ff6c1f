import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unsupported } from './errors.ts';

/** An item as DynamoDB stores it, or a part of an item. Stored values are immutable, and a write replaces them. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Binary data. Its JSON form is base64, as in DynamoDB's protocol. */
export class Bytes extends Uint8Array {
  toJSON(): string {
    return Buffer.from(this).toString('base64');
  }
}

/** Returns the canonical form of a number. Rejects fractions and large integers, because JavaScript numbers are doubles. */
export function wholeNumber(text: string): string {
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(Number(text))) throw unsupported(`the number ${text}`);
  return String(Number(text));
}

/** Returns whether both values exist and have the same type and content. */
export function areEqual(one: AttributeValue | undefined, other: AttributeValue | undefined): boolean {
  return one !== undefined && isDeepStrictEqual(one, other);
}

/** Compares two strings, numbers or binary values. Returns a negative number, 0 or a positive number, or `NaN` for values without an order. */
export function compareValues(one: AttributeValue | undefined, other: AttributeValue | undefined): number {
  const isOrdered = one && other && typeOf(one) === typeOf(other) && orderedTypes.includes(typeOf(one));
  return isOrdered ? compareTexts(sortText(one), sortText(other)) : Number.NaN;
}

/** Compares two strings by UTF-16 code units. Returns a negative number, 0 or a positive number. */
export function compareTexts(one = '', other = ''): number {
  return one < other ? -1 : Number(one > other);
}

/** The types of values that can be compared by order. */
export const orderedTypes: readonly string[] = ['S', 'N', 'B'];

/** Returns the type of a value in DynamoDB's wire format, such as `S`, `N` or `BOOL`. */
export function typeOf(value: AttributeValue): string {
  return Object.keys(value)[0] ?? '';
}

/**
 * Returns the sort text of a string, number or binary value. JavaScript orders sort texts as DynamoDB orders values of one
 * type. DynamoDB orders strings by their UTF-8 bytes, but UTF-16 code units order surrogates differently.
 */
export function sortText({ S, N, B = new Uint8Array() }: AttributeValue): string {
  if (N !== undefined) return String(BigInt(N) + 2n ** 53n).padStart(17, '0');
  if (S === undefined) return Buffer.from(B).toString('latin1');
  return high.test(S) ? S.replace(everyHigh, unit => String.fromCharCode(rankOf(unit.charCodeAt(0)))) : S;
}

/**
 * Returns the size of an item in bytes, as AWS counts it.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(item: Attributes): number {
  let size = 0;
  for (const [name, value] of Object.entries(item)) size += Buffer.byteLength(name) + valueSize(value);
  return size;
}

const high = /[\ud800-\uffff]/;
const everyHigh = /[\ud800-\uffff]/g;

function rankOf(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

function valueSize(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return value.B.length;
  if (value.L !== undefined) return value.L.reduce((sum, element) => sum + 1 + valueSize(element), 3);
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemSize(value.M);
  return 1;
}

/** Counts one byte for every two digits, one for the exponent, and one for a minus sign. */
function numberSize(number: string): number {
  const digits = number.replace(/-|0+$/g, '');
  return Math.ceil(digits.length / 2) + (number.startsWith('-') ? 2 : 1);
}
