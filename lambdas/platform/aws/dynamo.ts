import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, type ServiceInputTypes, type ServiceOutputTypes } from '@aws-sdk/lib-dynamodb';
import type { Command } from '@smithy/types';
import type { Clock } from '../clock.ts';
import { clientSettings } from './client-settings.ts';
import { isThrottled, recordFailedCall } from './failed-call.ts';
import { ItemProtocol } from './item-protocol.ts';

/** A DynamoDB item, or a part of an item, as plain JavaScript values. */
export type Item = Record<string, unknown>;

/** Sends a DynamoDB command and resolves with its output. */
export type Dynamo = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: DocumentCommand<Input, Output>,
  options?: CallOptions,
) => Promise<Output>;

interface CallOptions {
  readonly abortSignal?: AbortSignal;
}

/** The dependencies of a table's store. */
export interface StoreParts {
  readonly dynamo: Dynamo;
  readonly table: string;
  readonly now: Clock;
}

/** Creates the function that sends the commands of all stores. */
export function makeDynamo(client = makeDocumentClient(dynamoSettings())): Dynamo {
  return function callDynamo(command, options) {
    return client.send(command, options);
  };
}

export function dynamoSettings() {
  return { ...clientSettings('dynamodb'), protocol: ItemProtocol };
}

/** Creates a DynamoDB client that accepts and returns items as plain JavaScript values. */
export function makeDocumentClient(settings: DynamoDBClientConfig): DynamoDBDocumentClient {
  const client = new DynamoDBClient(settings);
  for (const name of unusedMiddleware) client.middlewareStack.remove(name);
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Returns whether a stored value (`undefined` if it is missing) equals the written value. */
export function equalsWritten(read: unknown, written: unknown): boolean {
  if (read === undefined || written === undefined) return read === written;
  // Loaded on demand, because a static import would delay each cold start more than most of the bundle does.
  const { isDeepStrictEqual } = process.getBuiltinModule('node:util');
  return isDeepStrictEqual(read, JSON.parse(JSON.stringify(written)));
}

export function isConditionFailed(error: unknown): boolean {
  return isNamed(error, 'ConditionalCheckFailedException');
}

/**
 * Returns the output of a conditional write, or `undefined` if its condition was not met. If the SDK repeated the write, the condition may
 * have failed because the first try succeeded. `readBack` then returns the output if the item is stored as intended.
 */
export async function conditionalWrite<Output>(
  write: Promise<Output>,
  readBack?: () => Promise<Output | undefined>,
): Promise<Output | undefined> {
  try {
    return await write;
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    return wasRepeated(error) ? readBack?.() : undefined;
  }
}

/** Returns whether a conditional write took effect. `isStored` returns whether the intended result is stored. */
export async function isWritten(write: Promise<object>, isStored = async () => false): Promise<boolean> {
  return (await conditionalWrite(write, async () => ((await isStored()) ? {} : undefined))) !== undefined;
}

/** Returns whether the SDK repeated a call, for example after a lost response. An earlier try may have taken effect. */
export function wasRepeated(result: unknown): boolean {
  const { $metadata } = result as { $metadata?: { attempts?: number } };
  return ($metadata?.attempts ?? 1) > 1;
}

/** Returns whether a dependency throttled the call, failed or timed out. A retry may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const isConnectionBroken = error instanceof Error && 'code' in error && connectionErrors.includes(String(error.code));
  const isServerError = error instanceof Error && '$fault' in error && error.$fault === 'server';
  return isThrottled(error) || isNamed(error, ...timeoutErrors) || isConnectionBroken || isServerError;
}

/** Thrown when DynamoDB leaves keys of a batch unprocessed, which is a form of throttling. */
export class UnprocessedKeysError extends Error {
  override readonly name = 'UnprocessedKeysError';
  constructor(table: string) {
    super('DynamoDB left keys of a batch unprocessed.');
    recordFailedCall(this, { action: 'dynamodb:BatchGetItem', resourceType: 'table', table, throttled: [] });
  }
}

/** Thrown if DynamoDB did not run a statement of a batch, or did not return its result. A retry may succeed. */
export class StatementError extends Error {
  readonly $fault = 'server';

  /** @param name - DynamoDB's error code for the statement */
  constructor(name: string, table: string) {
    super('DynamoDB did not confirm a statement of a batch.');
    this.name = name;
    const throttled = isThrottled(this) ? { throttled: [] } : {};
    recordFailedCall(this, { action: 'dynamodb:PartiQLInsert', resourceType: 'table', table, ...throttled });
  }
}

export interface ItemKey {
  readonly table: string;
  readonly key: Item;
}

/** Returns whether an item can have this key. DynamoDB rejects an empty or overlong key. */
export function isPossibleKey(key: Item): boolean {
  return Object.values(key).every(
    value => typeof value !== 'string' || (value !== '' && Buffer.byteLength(value) <= maxKey),
  );
}

/** SDK middleware that only describes the caller to AWS on each call. */
const unusedMiddleware = ['getUserAgentMiddleware', 'recursionDetectionMiddleware'];

type DocumentCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = Command<
  ServiceInputTypes,
  Input,
  ServiceOutputTypes,
  Output,
  DynamoDBDocumentClient['config']
>;

function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

/** The connection errors that the SDK retries, and the error for a refused connection. */
const connectionErrors = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'],
];

const timeoutErrors = ['TimeoutError', 'RequestTimeout', 'RequestTimeoutException', 'DependencyTimeoutException'];

/** The maximum length of a DynamoDB sort key in bytes. */
const maxKey = 1_024;
