import type { AttributeDefinition, AttributeValue, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { type Attributes, typeOf } from './attribute-values.ts';
import { validationError } from './errors.ts';

/** The attributes of a key. */
export interface KeySchema {
  readonly hash: KeyAttribute;
  readonly range?: KeyAttribute | undefined;
  /** The hash attribute, then the range attribute where there is one. */
  readonly attributes: readonly KeyAttribute[];
}

/** An attribute of a key, and its type: `S`, `N` or `B`. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: string;
}

/** Reads the key of a table or an index. */
export function readKeySchema(
  schema: readonly KeySchemaElement[] = [],
  definitions: readonly AttributeDefinition[] = [],
): KeySchema {
  const [hash, range] = ['HASH', 'RANGE'].map(kind => {
    const name = schema.find(({ KeyType }) => KeyType === kind)?.AttributeName;
    const type = definitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
    return name === undefined || type === undefined ? undefined : { name, type };
  });
  if (!hash || schema.length > (range ? 2 : 1)) throw new Error('A key has attributes of a defined type.');
  return { hash, range, attributes: range ? [hash, range] : [hash] };
}

/** Returns a text that only the same key values have. Those of the key are strings, canonical numbers or bytes. */
export function keyText(value: AttributeValue): string {
  return value.S ?? value.N ?? Buffer.from(value.B ?? []).toString('latin1');
}

/** Returns a text for the key of an item, which is known to have one. */
export function itemText({ hash, range }: KeySchema, item: Attributes): string {
  const text = keyText(keyValue(item, hash));
  return range ? `${text.length}:${text}${keyText(keyValue(item, range))}` : text;
}

/** Returns a value of a key, which is known to be there. */
export function keyValue(item: Attributes, { name }: KeyAttribute): AttributeValue {
  const value = item[name];
  if (!value) throw new Error(`The key ${name} was checked.`);
  return value;
}

/** @throws ValidationException for a key that has other attributes than the table's, or values that no key has. */
export function checkKey({ attributes }: KeySchema, key: Attributes): void {
  if (Object.keys(key).length !== attributes.length || attributes.some(({ name }) => !key[name])) {
    throw validationError('The provided key element does not match the schema');
  }
  for (const attribute of attributes) {
    const value = keyValue(key, attribute);
    if (typeOf(value) !== attribute.type) {
      throw validationError('The provided key element does not match the schema');
    }
    checkLength(attribute, value, attribute === attributes[0]);
  }
}

/** @throws ValidationException for an item without a key, or with one that no item has. */
export function checkItemKey({ attributes }: KeySchema, item: Attributes): void {
  for (const attribute of attributes) {
    const { name, type } = attribute;
    const { [name]: value } = item;
    if (!value) throw invalidParameters(`Missing the key ${name} in the item`);
    if (typeOf(value) !== type) {
      throw invalidParameters(`Type mismatch for key ${name} expected: ${type} actual: ${typeOf(value)}`);
    }
    checkLength(attribute, value, attribute === attributes[0]);
  }
}

/** @throws ValidationException for an item that has an attribute of an index's key, but with a value that no key has. */
export function checkIndexKey(index: string, { attributes }: KeySchema, item: Attributes): void {
  for (const attribute of attributes) {
    const { name, type } = attribute;
    const { [name]: value } = item;
    if (!value) continue;
    if (typeOf(value) !== type) {
      throw invalidParameters(
        `Type mismatch for Index Key ${name} Expected: ${type} Actual: ${typeOf(value)} IndexName: ${index}`,
      );
    }
    checkLength(attribute, value, attribute === attributes[0]);
  }
}

/** @throws ValidationException for an empty key, or one that is too long. */
export function checkLength({ name }: KeyAttribute, value: AttributeValue, isHash: boolean): void {
  const length = value.B?.length ?? Buffer.byteLength(value.S ?? '1');
  if (length === 0) {
    const kind = value.B ? 'binary' : 'string';
    throw validationError(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${kind} value. Key: ${name}`,
    );
  }
  if (length <= (isHash ? longestHash : longestRange)) return;
  throw invalidParameters(
    isHash
      ? `Size of hashkey has exceeded the maximum size limit of${longestHash} bytes`
      : `Aggregated size of all range keys has exceeded the size limit of ${longestRange} bytes`,
  );
}

const longestHash = 2_048;
const longestRange = 1_024;

function invalidParameters(message: string): Error {
  return validationError(`One or more parameter values were invalid: ${message}`);
}
