/** The program whose import is compared to that of the functions: it creates two clients by the SDK's defaults, and names a command of each. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DecryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

export const clients = [
  DynamoDBDocumentClient.from(new DynamoDBClient({})),
  new KMSClient({}),
  GetCommand,
  DecryptCommand,
];
