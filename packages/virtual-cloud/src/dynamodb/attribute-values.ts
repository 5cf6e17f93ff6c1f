import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { compareNumbers, sortableNumber } from './decimal.ts';

/** An item, or a part of one, as DynamoDB keeps it. What is stored is never changed: a write replaces it. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Returns the type of a value, as DynamoDB's wire format writes it: `S`, `N`, `BOOL`… */
export function typeOf(value: AttributeValue): string {
  return Object.keys(value)[0] ?? '';
}

/** Returns whether two values are the same in type and content. Sets are the same in any order. */
export function areEqual(one: AttributeValue, other: AttributeValue): boolean {
  if (one.S !== undefined) return one.S === other.S;
  if (one.N !== undefined) return one.N === other.N; // both are canonical
  if (one.BOOL !== undefined) return one.BOOL === other.BOOL;
  if (one.NULL !== undefined) return other.NULL !== undefined;
  if (one.B !== undefined) return other.B !== undefined && Buffer.compare(one.B, other.B) === 0;
  if (one.L !== undefined) return other.L !== undefined && areListsEqual(one.L, other.L);
  if (one.M !== undefined) return other.M !== undefined && areMapsEqual(one.M, other.M);
  const [left, right] = [membersOf(one), membersOf(other)];
  return typeOf(one) === typeOf(other) && left.length === right.length && left.every(member => right.includes(member));
}

/** Compares two strings, numbers or binaries: negative, zero or positive. `undefined` where they have no order. */
export function compareValues(one: AttributeValue, other: AttributeValue): number | undefined {
  if (one.S !== undefined) return other.S === undefined ? undefined : compareStrings(one.S, other.S);
  if (one.N !== undefined) return other.N === undefined ? undefined : compareNumbers(one.N, other.N);
  if (one.B !== undefined) return other.B === undefined ? undefined : Buffer.compare(one.B, other.B);
  return undefined;
}

/** Returns whether a string or binary begins with another. */
export function beginsWith(value: AttributeValue, start: AttributeValue): boolean {
  if (value.S !== undefined) return start.S !== undefined && value.S.startsWith(start.S);
  if (value.B === undefined || start.B === undefined) return false;
  return Buffer.compare(value.B.subarray(0, start.B.length), start.B) === 0;
}

/**
 * Returns a text for a string, number or binary. JavaScript compares such texts as DynamoDB compares the values of one type:
 * strings by the bytes of UTF-8. By its own units the surrogates stand elsewhere.
 */
export function sortText({ S, N, B = new Uint8Array() }: AttributeValue): string {
  if (N !== undefined) return sortableNumber(N);
  if (S === undefined) return Buffer.from(B).toString('latin1');
  return high.test(S) ? S.replace(everyHigh, unit => String.fromCharCode(placeOf(unit.charCodeAt(0)))) : S;
}

const high = /[\ud800-\uffff]/;
const everyHigh = /[\ud800-\uffff]/g;

function placeOf(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

function compareStrings(one: string, other: string): number {
  if (one === other) return 0;
  return sortText({ S: one }) < sortText({ S: other }) ? -1 : 1;
}

function areListsEqual(one: readonly AttributeValue[], other: readonly AttributeValue[]): boolean {
  return (
    one.length === other.length &&
    one.every((value, at) => {
      const { [at]: opposite } = other;
      return opposite !== undefined && areEqual(value, opposite);
    })
  );
}

function areMapsEqual(one: Attributes, other: Attributes): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every(name => isSame(one[name], other[name]));
}

function isSame(one: AttributeValue | undefined, other: AttributeValue | undefined): boolean {
  return one !== undefined && other !== undefined && areEqual(one, other);
}

function membersOf({ SS, NS, BS = [] }: AttributeValue): readonly string[] {
  return SS ?? NS ?? BS.map(bytes => Buffer.from(bytes).toString('base64'));
}
