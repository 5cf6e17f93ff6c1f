import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { NativeAttributeValue } from '@aws-sdk/lib-dynamodb';
import { convertToAttr } from '@aws-sdk/util-dynamodb';
import { type Attributes, Bytes, wholeNumber } from './attribute-values.ts';
import { unsupported } from './errors.ts';

/** An item or a part of an item, as native JavaScript values. */
export type NativeItem = Record<string, NativeAttributeValue>;

/** Converts the input of a document client's command. The result shares no objects with the input. */
export function requestOf(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(requestOf);
  return typeof input === 'object' && input !== null ? mapValues(input, fieldOf) : input;
}

/** Converts a response for the document client. The result shares no objects with stored items. */
export function documentOf(response: object): object {
  return mapValues(response, (value: never, name) => {
    if (['Item', 'Attributes', 'LastEvaluatedKey'].includes(name)) return nativeItem(value);
    if (name === 'Items') return nativeItems(value);
    return name === 'Responses' && !Array.isArray(value) ? mapValues(value, nativeItems) : value;
  });
}

/** Returns an item as native JavaScript values. */
export function nativeItem(item: Attributes): NativeItem {
  return mapValues(item, native);
}

/** Returns an item as DynamoDB stores it. Like the document client, it omits attributes that are `undefined`. */
function attributesOf(item: NativeItem): Attributes {
  return mapValues(Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)), attributeOf);
}

function fieldOf(value: never, name: string): unknown {
  if (value === undefined) return undefined;
  if (['Key', 'Item', 'ExclusiveStartKey', 'ExpressionAttributeValues'].includes(name)) return attributesOf(value);
  if (name === 'Keys') return (value as NativeItem[]).map(attributesOf);
  return name === 'Parameters' ? (value as NativeAttributeValue[]).map(attributeOf) : requestOf(value);
}

/** Converts a value. Strings bypass the library, because most values are strings and the library checks all other types first. */
function attributeOf(value: NativeAttributeValue): AttributeValue {
  if (typeof value === 'string' && value !== '') return { S: value };
  return copyOf(convertToAttr(value, { removeUndefinedValues: true }));
}

/** Copies a value that the library returned, because the library may return objects from its input. */
function copyOf(value: AttributeValue): AttributeValue {
  if (value.N !== undefined) return { N: wholeNumber(value.N) };
  if (value.B !== undefined) return { B: Bytes.from(value.B) };
  if (value.L !== undefined) return { L: value.L.map(copyOf) };
  if (value.M !== undefined) return { M: mapValues(value.M, copyOf) };
  if (value.SS ?? value.NS ?? value.BS) throw unsupported('sets');
  return value;
}

function nativeItems(items: readonly Attributes[]): NativeItem[] {
  return items.map(nativeItem);
}

function native(value: AttributeValue): NativeAttributeValue {
  if (value.N !== undefined) return Number(value.N);
  if (value.B !== undefined) return Uint8Array.from(value.B);
  if (value.L !== undefined) return value.L.map(native);
  if (value.M !== undefined) return nativeItem(value.M);
  return value.NULL ? null : (value.S ?? value.BOOL);
}

function mapValues<From, To>(values: object, convert: (value: From, name: string) => To): Record<string, To> {
  const result: Record<string, To> = {};
  for (const [name, value] of Object.entries(values)) result[name] = convert(value, name);
  return result;
}
