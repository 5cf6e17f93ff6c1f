import { hash } from 'node:crypto';
import type { MessageAttributes } from './queue.ts';

/** Returns the MD5 of a message's body, in hexadecimal. */
export function md5OfBody(body: string): string {
  return hash('md5', body);
}

/**
 * Returns the MD5 of a message's attributes, in hexadecimal, as a response field. Without attributes there is no field.
 * See the developer guide, *Calculating the MD5 message digest for message attributes*.
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
    Buffer.of(ofText),
    ...withLength(StringValue),
  ]);
  return { [name]: hash('md5', Buffer.concat(parts)) } as { [_ in Name]?: string };
}

const ofText = 1;

function withLength(text: string): Uint8Array[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return [length, Buffer.from(text)];
}
