/** Calls DynamoDB with the client `product` or `plain`, and sends the CPU time per call to the parent process, in microseconds. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { dynamoSettings, makeDocumentClient } from '../../lambdas/platform/aws/dynamo.ts';

const [, , name, calls] = process.argv;
const client =
  name === 'product' ? makeDocumentClient(dynamoSettings()) : DynamoDBDocumentClient.from(new DynamoDBClient({}));
const item = {
  id: 'user-1',
  email: 'someone@example.com',
  scopes: ['webhooks:read'],
  text: 'x'.repeat(300),
  counter: 12,
};

await makeCalls(1_500); // warm-up
const before = process.cpuUsage();
await makeCalls(Number(calls));
const { user, system } = process.cpuUsage(before);
process.send?.((user + system) / Number(calls), () => process.exit());

/** Makes `count` calls, five at a time. The calls alternate between three operations. */
async function makeCalls(count: number): Promise<void> {
  let left = count / 3;
  const worker = async () => {
    while (left-- > 0) {
      const Keys = ['a', 'b', 'c'].map(id => ({ id }));
      await client.send(new BatchGetCommand({ RequestItems: { Table: { ConsistentRead: true, Keys } } }));
      await client.send(
        new PutCommand({ TableName: 'Table', Item: item, ConditionExpression: 'attribute_not_exists(id)' }),
      );
      await client.send(
        new UpdateCommand({
          ...{ TableName: 'Table', Key: { id: 'a' }, ReturnValues: 'ALL_NEW' },
          UpdateExpression: 'SET first = :first, second = :second',
          ExpressionAttributeValues: { ':first': 1, ':second': 'text' },
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: 5 }, worker));
}
