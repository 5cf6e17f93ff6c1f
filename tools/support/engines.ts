import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The outputs that say where queues and tables are. A deployed stage has no endpoints: there the account's own are used. */
export interface EngineOutputs {
  readonly Region?: string;
  readonly DynamoDbEndpoint?: string;
  readonly SqsEndpoint?: string;
}

/** Makes a client of a service's queues. */
export function sqsClientOf({ Region, SqsEndpoint }: EngineOutputs): SQSClient {
  return new SQSClient(settings(Region, SqsEndpoint));
}

/** Makes a client of a service's tables. */
export function dynamoClientOf({ Region, DynamoDbEndpoint }: EngineOutputs): DynamoDBDocumentClient {
  const client = new DynamoDBClient(settings(Region, DynamoDbEndpoint));
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

function settings(region: string | undefined, endpoint: string | undefined) {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }; // local engines take any
  return { ...(region !== undefined && { region }), ...(endpoint !== undefined && { endpoint, credentials }) };
}
