/** A DynamoDB item, or a part of one, in JavaScript's own values. */
export type Item = Record<string, unknown>;

/**
 * Writes an item as DynamoDB's JSON. Attributes that are `undefined` are left out.
 *
 * @throws {TypeError} when a value is none that DynamoDB keeps and gives back unchanged
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
 */
export function writeItem(item: Item): string {
  let text = '';
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${writeValue(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Writes one attribute value as DynamoDB's JSON. Throws as `writeItem` does. */
export function writeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `{"S":${JSON.stringify(value)}}`;
    case 'number':
      if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) throw unknownValue(value);
      return `{"N":"${value}"}`;
    case 'boolean':
      return value ? '{"BOOL":true}' : '{"BOOL":false}';
    case 'object':
      return writeObject(value);
    default:
      throw unknownValue(value);
  }
}

/** Reads an item from DynamoDB's JSON, parsed. */
export function readItem(attributes: Readonly<Record<string, AttributeValue>>): Item {
  const item: Item = {};
  for (const name in attributes) {
    const value = readValue(attributes[name] as AttributeValue);
    // An assignment would set the prototype of the item.
    if (name === '__proto__') Object.defineProperty(item, name, { value, ...ownProperty });
    else item[name] = value;
  }
  return item;
}

/** Returns whether a value that was read, or `undefined` where there is none, is the one that was to be written. */
export function isAsWritten(read: unknown, written: unknown): boolean {
  if (read === undefined || written === undefined) return read === written;
  // Asked for here: importing it costs every cold start more milliseconds than most of the bundle.
  const { isDeepStrictEqual } = process.getBuiltinModule('node:util');
  return isDeepStrictEqual(read, JSON.parse(JSON.stringify(written)));
}

/** DynamoDB's JSON of a value, parsed. There are sets too, which nothing here writes. */
export interface AttributeValue {
  readonly S?: string;
  readonly N?: string;
  readonly M?: Readonly<Record<string, AttributeValue>>;
  readonly L?: readonly AttributeValue[];
  readonly BOOL?: boolean;
  /** In base64. */
  readonly B?: string;
  readonly NULL?: boolean;
}

const ownProperty = { enumerable: true, writable: true, configurable: true };

function writeObject(value: object | null): string {
  if (value === null) return '{"NULL":true}';
  if (Array.isArray(value)) return `{"L":[${value.filter(isDefined).map(writeValue).join(',')}]}`;
  if (value instanceof Uint8Array) {
    return `{"B":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw unknownValue(value);
  return `{"M":${writeItem(value as Item)}}`;
}

function readValue(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.M !== undefined) return readItem(value.M);
  if (value.L !== undefined) return value.L.map(readValue);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.B !== undefined) return new Uint8Array(Buffer.from(value.B, 'base64'));
  if (value.NULL) return null;
  throw unknownValue(value);
}

function isDefined(value: unknown): boolean {
  return value !== undefined;
}

/** The message names the kind of value only: values are people's. */
function unknownValue(value: unknown): TypeError {
  const kind = typeof value === 'object' ? Object.keys(value ?? {}).join() || value?.constructor.name : typeof value;
  return new TypeError(`DynamoDB does not keep this kind of value: ${kind}.`);
}
