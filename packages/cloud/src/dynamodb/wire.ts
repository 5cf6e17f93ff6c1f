import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { Bytes } from './attribute-values.ts';

const bytes = z.base64().transform(text => Bytes.from(Buffer.from(text, 'base64')));
const number = z.string().transform(Number).pipe(z.int('Only whole numbers are supported')).transform(String);

/** An attribute value in DynamoDB's JSON. */
const value: z.ZodType<AttributeValue, unknown> = z.lazy(() => {
  const scalars = { S: z.string(), N: number, B: bytes, BOOL: z.boolean(), NULL: z.boolean() };
  return z
    .strictObject({ ...scalars, L: z.array(value), M: attributesSchema })
    .partial()
    .refine(one => Object.keys(one).length === 1, 'A value must have exactly one type') as never;
});

/** An item or a part of an item, in DynamoDB's JSON. */
export const attributesSchema = z.record(z.string(), value);

const text = z.string();
const flag = z.boolean();
const attributes = attributesSchema;

/** A request for any operation, or a part of one, in DynamoDB's JSON. One schema is enough, because fields with the same name have the same type. */
export const requestSchema: z.ZodType<object> = z.lazy(() =>
  z
    .looseObject({
      ...{ TableName: text, IndexName: text, Statement: text, ReturnValues: text, ClientRequestToken: text },
      ...{ ConditionExpression: text, FilterExpression: text, KeyConditionExpression: text },
      ...{ ProjectionExpression: text, UpdateExpression: text, ExpressionAttributeNames: z.record(text, text) },
      ...{ ConsistentRead: flag, ScanIndexForward: flag, Limit: z.int() },
      ...{ Key: attributes, Item: attributes, ExclusiveStartKey: attributes, ExpressionAttributeValues: attributes },
      ...{ Keys: z.array(attributes), Parameters: z.array(value) },
      RequestItems: z.record(text, z.union([z.array(requestSchema), requestSchema])),
      ...{ PutRequest: requestSchema, DeleteRequest: requestSchema },
      ...{ Statements: z.array(requestSchema), TransactItems: z.array(requestSchema) },
      ...{ Put: requestSchema, Update: requestSchema, Delete: requestSchema },
    })
    .partial(),
);
