import type { AttributeDefinition, AttributeValue, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { type Attributes, typeOf } from './attribute-values.ts';
import { validationError } from './errors.ts';

/** The attributes of a key, which are the partition key and an optional sort key. */
export type Key = readonly [KeyAttribute, ...KeyAttribute[]];

/** A key attribute. Its type is `S`, `N` or `B`. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: string;
  /** The maximum length in bytes. */
  readonly maxLength: number;
}

/** Returns the key that the definition of a table or index describes. */
export function readKey(
  schema: readonly KeySchemaElement[] = [],
  definitions: readonly AttributeDefinition[] = [],
): Key {
  const [hash, ...ranges] = schema.map(({ AttributeName: name = '', KeyType }) => {
    const type = definitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? '';
    return { name, type, maxLength: KeyType === 'HASH' ? 2_048 : 1_024 };
  });
  if (!hash) throw new TypeError('A key must have at least one attribute.');
  return [hash, ...ranges];
}

/** Returns the key attributes of an item. */
export function keyIn(key: Key, item: Attributes): Attributes {
  return Object.fromEntries(key.flatMap(({ name }) => (item[name] ? [[name, item[name]]] : [])));
}

/** Returns the value of a key attribute. @throws {ServiceError} if the item lacks it */
export function keyValue(item: Attributes, { name }: KeyAttribute): AttributeValue {
  const { [name]: value } = item;
  if (!value) throw validationError(`One or more parameter values were invalid: Missing the key ${name} in the item`);
  return value;
}

/** @throws {ServiceError} if an item lacks a key attribute or has an invalid key value */
export function checkKey(key: Key, item: Attributes): void {
  for (const attribute of key) checkKeyValue(attribute, keyValue(item, attribute));
}

/** @throws {ServiceError} if a value is empty, too long, or of another type */
export function checkKeyValue({ name, type, maxLength }: KeyAttribute, value: AttributeValue): void {
  const length = value.B?.length ?? Buffer.byteLength(value.S ?? '1');
  if (typeOf(value) === type && length > 0 && length <= maxLength) return;
  const fault = typeOf(value) === type ? `has ${length} bytes` : `is of the type ${typeOf(value)}`;
  throw validationError(`One or more parameter values were invalid: the key ${name} ${fault}`);
}
