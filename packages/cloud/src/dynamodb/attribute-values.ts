import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { NativeAttributeValue, TranslateConfig } from '@aws-sdk/lib-dynamodb';
import { convertToAttr, convertToNative } from '@aws-sdk/util-dynamodb';
import { canonicalNumber, numberSize, sortableNumber } from './decimal.ts';
import { notKnown, validationError } from './refusals.ts';
import { tokensOf } from './tokens.ts';

/** An item, or a part of one, as DynamoDB keeps it. What is stored is never changed: a write replaces it. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** An item, or a part of one, in JavaScript's own values. */
export type NativeItem = Record<string, NativeAttributeValue>;

/** What the placeholders of a request stand for. */
export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Attributes;
}

/** What translates between JavaScript's values and DynamoDB's. */
export type Translation = ReturnType<typeof makeTranslation>;

/**
 * Makes a translation that does as the document client does with the same settings: what it returns shares nothing with what it is
 * given. With `'none'`, values are DynamoDB's own on both sides.
 */
export function makeTranslation(settings: TranslateConfig | 'none' = {}) {
  const { marshallOptions = undefined, unmarshallOptions = undefined } = settings === 'none' ? {} : settings;
  return {
    attributes,
    placeholders,
    native: (item: Attributes): NativeItem => (settings === 'none' ? { ...item } : eachOf(item, native)),
  };

  /** Like the document client, it leaves out attributes that are `undefined`, whatever the settings. */
  function attributes(item: NativeItem = {}): Attributes {
    const translated: Record<string, AttributeValue> = {};
    for (const [name, value] of Object.entries(item)) {
      if (value !== undefined) translated[name] = attribute(value);
    }
    return translated;
  }

  /** Most values are texts, and the library asks for all other types first. */
  function attribute(value: NativeAttributeValue): AttributeValue {
    if (settings === 'none') return kept(value);
    return typeof value === 'string' && value !== '' ? { S: value } : kept(convertToAttr(value, marshallOptions));
  }

  /** @throws {ServiceError} if no expression of the request uses one of them. */
  function placeholders(request: ExpressionsRequest): Placeholders {
    const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = request;
    const used = expressions.flatMap(expression => tokensOf(request[expression] ?? ''));
    const unused = [...Object.keys(names), ...Object.keys(values)].find(placeholder => !used.includes(placeholder));
    if (unused === undefined) return { names, values: attributes(values) };
    throw validationError(`Value provided in ExpressionAttribute… unused in expressions: keys: {${unused}}`);
  }

  function native(value: AttributeValue): NativeAttributeValue {
    if (value.S !== undefined) return value.S;
    if (value.B !== undefined) return Uint8Array.from(value.B);
    if (value.L !== undefined) return value.L.map(native);
    if (value.M !== undefined) return eachOf(value.M, native);
    return convertToNative(value, unmarshallOptions);
  }
}

/** Returns whether two values are there, and are the same in type and content. */
export function areEqual(one: AttributeValue | undefined, other: AttributeValue | undefined): boolean {
  return one !== undefined && isDeepStrictEqual(one, other);
}

/** Compares two strings, numbers or binaries: negative, zero or positive. Other values have no order: `NaN`. */
export function compareValues(one: AttributeValue | undefined, other: AttributeValue | undefined): number {
  const isOrdered = one && other && typeOf(one) === typeOf(other) && orderedTypes.includes(typeOf(one));
  return isOrdered ? compareTexts(sortText(one), sortText(other)) : Number.NaN;
}

/** Compares two texts by their units: negative, zero or positive. */
export function compareTexts(one = '', other = ''): number {
  return one < other ? -1 : Number(one > other);
}

/** The types whose values have an order. */
export const orderedTypes: readonly string[] = ['S', 'N', 'B'];

/** Returns the type of a value, as DynamoDB's wire format writes it: `S`, `N`, `BOOL`… */
export function typeOf(value: AttributeValue): string {
  return Object.keys(value)[0] ?? '';
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

/**
 * Returns the size of an item as AWS counts it, in bytes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(item: Attributes): number {
  let size = 0;
  for (const [name, value] of Object.entries(item)) size += Buffer.byteLength(name) + valueSize(value);
  return size;
}

const expressions = [
  'ConditionExpression',
  'FilterExpression',
  'KeyConditionExpression',
  'ProjectionExpression',
  'UpdateExpression',
] as const;

/** The expressions of a request, and the placeholders in them. */
type ExpressionsRequest = { readonly [expression in (typeof expressions)[number]]?: string | undefined } & {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: NativeItem | undefined;
};

/** Bytes as a table keeps them. In JSON they are base64, as in DynamoDB's protocol. */
class Bytes extends Uint8Array {
  toJSON(): string {
    return Buffer.from(this).toString('base64');
  }
}

/** Returns a value as DynamoDB keeps it: its number in canonical form, its bytes nobody else's. */
function kept(value: AttributeValue): AttributeValue {
  if (value.S !== undefined) return value;
  if (value.N !== undefined) return { N: canonicalNumber(value.N) };
  if (value.B !== undefined) return { B: Bytes.from(value.B) };
  if (value.L !== undefined) return { L: value.L.map(kept) };
  if (value.M !== undefined) return { M: eachOf(value.M, kept) };
  if (value.SS ?? value.NS ?? value.BS) throw notKnown('sets');
  return value;
}

function eachOf<From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  const changed: Record<string, To> = {};
  for (const [name, value] of Object.entries(values)) changed[name] = change(value);
  return changed;
}

const high = /[\ud800-\uffff]/;
const everyHigh = /[\ud800-\uffff]/g;

function placeOf(unit: number): number {
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
