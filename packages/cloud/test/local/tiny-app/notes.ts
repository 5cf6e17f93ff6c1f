import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';

const { QUEUE_URL: QueueUrl, TABLE: TableName } = process.env;
const dynamo = new DynamoDBClient();
const sqs = new SQSClient();

/** Answers requests, and stores the notes that the queue hands it. */
export async function handler(event: APIGatewayProxyEventV2 | SQSEvent) {
  return 'Records' in event ? store(event) : answer(event);
}

async function store({ Records }: SQSEvent): Promise<void> {
  for (const { body } of Records) {
    const { id, text } = JSON.parse(body);
    await dynamo.send(new PutItemCommand({ TableName, Item: { id: { S: id }, text: { S: text } } }));
  }
}

async function answer({ requestContext, pathParameters, body }: APIGatewayProxyEventV2) {
  const id = pathParameters?.id ?? '';
  if (requestContext.http.method === 'PUT') {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ id, text: body }) }));
    return { statusCode: 202 };
  }
  const { Item } = await dynamo.send(new GetItemCommand({ TableName, Key: { id: { S: id } } }));
  return Item ? { statusCode: 200, body: Item.text?.S } : { statusCode: 404 };
}
