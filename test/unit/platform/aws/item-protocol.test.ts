import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { startDatabase } from '../../../support/database/database.ts';

// Bytes are base64 on the wire: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
const { dynamo, stop } = await startDatabase('Users');
afterAll(stop);

const key = { userId: 'item' };
const text = fc.oneof(fc.string(), fc.constantFrom('"B":', '{"B":"AAAA"}', 'B'));
const bytes = fc.uint8Array();
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    ...[text, fc.integer(), fc.boolean(), fc.constant(null), bytes],
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom('B', 'S', 'N'), fc.string({ minLength: 1 })), tie('value'), { maxKeys: 3 }),
  ),
}));

it('reads any item as it was written, including bytes and attributes with the names of types', async () => {
  await fc.assert(
    fc.asyncProperty(value, async written => {
      await dynamo(new PutCommand({ TableName: 'Users', Item: { ...key, written } }));
      const { Item } = await dynamo(new GetCommand({ TableName: 'Users', Key: key }));
      expect(Item).toEqual({ ...key, written });
    }),
  );
});
