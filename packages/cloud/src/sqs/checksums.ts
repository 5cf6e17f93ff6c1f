import { hash } from 'node:crypto';
import type { MessageAttributes } from './queue.ts';

/** Returns the MD5 of a message's body, in hexadecimal. */
export function md5OfBody(body: string): string {
  return hash('md5', body);
}

/**
 * Returns the MD5 of a message's attributes, in hexadecimal, as a field of an answer; no field if there are none. See *Calculating the MD5 message digest for
 * message attributes* in the developer guide: names in order, each length before its part, and the kind of the value.
 */
export function md5OfAttributes<Name extends string>(
  name: Name,
  attributes: MessageAttributes,
): { [_ in Name]?: string } {
  const sorted = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  if (sorted.length === 0) return {};
  const parts = sorted.flatMap(([attribute, { DataType = '', StringValue, BinaryValue = new Uint8Array() }]) => {
    const [kind, value] = StringValue === undefined ? [2, bytesOf(BinaryValue)] : [1, Buffer.from(StringValue)];
    return [
      ...withLength(Buffer.from(attribute)),
      ...withLength(Buffer.from(DataType)),
      Buffer.of(kind),
      ...withLength(value),
    ];
  });
  return { [name]: hash('md5', Buffer.concat(parts)) } as { [_ in Name]?: string };
}

function withLength(bytes: Uint8Array): Uint8Array[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}

/** Returns the bytes of a binary value. One that came as JSON is base64. */
export function bytesOf(value: Uint8Array | string): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : value;
}
