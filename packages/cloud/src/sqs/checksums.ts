import { hash } from 'node:crypto';
import type { MessageAttributes } from './queue.ts';

/** Returns the MD5 of a message's body, in hexadecimal. */
export function md5OfBody(body: string): string {
  return hash('md5', body);
}

/**
 * Returns a response field with the MD5 of a message's attributes in hexadecimal, or an empty object if it has none.
 * See *Calculating the MD5 message digest for message attributes* in the developer guide.
 */
export function md5OfAttributes<Name extends string>(
  name: Name,
  attributes: MessageAttributes,
): { [_ in Name]?: string } {
  const sorted = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  if (sorted.length === 0) return {};
  const parts = sorted.flatMap(([attribute, { DataType = '', StringValue = '' }]) => [
    ...withLength(attribute),
    ...withLength(DataType),
    Buffer.of(stringType),
    ...withLength(StringValue),
  ]);
  return { [name]: hash('md5', Buffer.concat(parts)) } as { [_ in Name]?: string };
}

const stringType = 1;

function withLength(text: string): Uint8Array[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return [length, Buffer.from(text)];
}
