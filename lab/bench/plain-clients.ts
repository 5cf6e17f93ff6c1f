/** Creates two clients with the SDK's defaults and imports one command for each. This bundle is the baseline for import times. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DecryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

export const clients = [
  DynamoDBDocumentClient.from(new DynamoDBClient({})),
  new KMSClient({}),
  GetCommand,
  DecryptCommand,
];
