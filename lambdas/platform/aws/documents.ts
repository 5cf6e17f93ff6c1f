import * as commands from '@aws-sdk/client-dynamodb';
import type * as documents from '@aws-sdk/lib-dynamodb';
import { DocumentProtocol } from './document-protocol.ts';

export type {
  BatchGetCommandInput,
  BatchGetCommandOutput,
  DynamoDBDocumentClient,
  QueryCommandOutput,
  ScanCommandOutput,
  UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';

/** Makes a client of DynamoDB whose commands take and return items in JavaScript's own values. The settings are the SDK's. */
export function makeDocumentClient(settings: commands.DynamoDBClientConfig): documents.DynamoDBDocumentClient {
  const client = new commands.DynamoDBClient({ ...settings, protocol: DocumentProtocol });
  for (const name of unusedMiddleware) client.middlewareStack.remove(name);
  return client as unknown as documents.DynamoDBDocumentClient;
}

/** SDK middleware that nothing here needs: it costs a sixth of a call's processor time. */
const unusedMiddleware = ['getUserAgentMiddleware', 'recursionDetectionMiddleware'];

// The client's own commands, with the types of the SDK's document client: its protocol reads and writes items.
export const BatchExecuteStatementCommand =
  commands.BatchExecuteStatementCommand as unknown as typeof documents.BatchExecuteStatementCommand;
export type BatchExecuteStatementCommand = documents.BatchExecuteStatementCommand;
export const BatchGetCommand = commands.BatchGetItemCommand as unknown as typeof documents.BatchGetCommand;
export type BatchGetCommand = documents.BatchGetCommand;
export const BatchWriteCommand = commands.BatchWriteItemCommand as unknown as typeof documents.BatchWriteCommand;
export type BatchWriteCommand = documents.BatchWriteCommand;
export const DeleteCommand = commands.DeleteItemCommand as unknown as typeof documents.DeleteCommand;
export type DeleteCommand = documents.DeleteCommand;
export const GetCommand = commands.GetItemCommand as unknown as typeof documents.GetCommand;
export type GetCommand = documents.GetCommand;
export const PutCommand = commands.PutItemCommand as unknown as typeof documents.PutCommand;
export type PutCommand = documents.PutCommand;
export const QueryCommand = commands.QueryCommand as unknown as typeof documents.QueryCommand;
export type QueryCommand = documents.QueryCommand;
export const ScanCommand = commands.ScanCommand as unknown as typeof documents.ScanCommand;
export type ScanCommand = documents.ScanCommand;
export const UpdateCommand = commands.UpdateItemCommand as unknown as typeof documents.UpdateCommand;
export type UpdateCommand = documents.UpdateCommand;

/** Reads all pages of a scan. */
export const paginateScan = commands.paginateScan as unknown as typeof documents.paginateScan;
