import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, type ServiceInputTypes, type ServiceOutputTypes } from '@aws-sdk/lib-dynamodb';
import type { Command } from '@smithy/types';
import type { Clock } from '../clock.ts';
import { clientSettings } from './client-settings.ts';
import { isThrottled, noteFailedCall } from './failed-call.ts';
import { ItemProtocol } from './item-protocol.ts';

/** A DynamoDB item, or a part of one, in JavaScript's own values. */
export type Item = Record<string, unknown>;

/** Sends a command of DynamoDB, and resolves with its answer. */
export type Dynamo = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: DocumentCommand<Input, Output>,
  options?: CallOptions,
) => Promise<Output>;

interface CallOptions {
  /** Ends the call early. */
  readonly abortSignal?: AbortSignal;
}

/** The parts that the store of a table is made of. */
export interface StoreParts {
  readonly dynamo: Dynamo;
  readonly table: string;
  readonly now: Clock;
}

/** Creates what sends the commands of all stores of a function. */
export function makeDynamo(client = makeDocumentClient(dynamoSettings())): Dynamo {
  return function callDynamo(command, options) {
    return client.send(command, options);
  };
}

/** Returns the settings of DynamoDB's client in a function. */
export function dynamoSettings() {
  return { ...clientSettings('dynamodb'), protocol: ItemProtocol };
}

/** Creates a client of DynamoDB whose commands take and return items in JavaScript's own values. The settings are the SDK's. */
export function makeDocumentClient(settings: DynamoDBClientConfig): DynamoDBDocumentClient {
  const client = new DynamoDBClient(settings);
  for (const name of unusedMiddleware) client.middlewareStack.remove(name);
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Returns whether a value that was read, or `undefined` where there is none, is the one that was to be written. */
export function isAsWritten(read: unknown, written: unknown): boolean {
  if (read === undefined || written === undefined) return read === written;
  // Asked for here: importing it costs every cold start more milliseconds than most of the bundle.
  const { isDeepStrictEqual } = process.getBuiltinModule('node:util');
  return isDeepStrictEqual(read, JSON.parse(JSON.stringify(written)));
}

/** Returns whether a write was refused because its condition did not hold. */
export function isConditionFailed(error: unknown): boolean {
  return isNamed(error, 'ConditionalCheckFailedException');
}

/**
 * Returns the output of a conditional write; `undefined` when its condition did not hold. What refuses a write that the SDK
 * repeated may be its own first try: `readBack` tells.
 *
 * @param readBack - returns the output where what was to be written stands there, and `undefined` otherwise.
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

/** Returns whether a conditional write took effect. `isThere` tells whether what it was to bring about is stored. */
export async function isWritten(write: Promise<object>, isThere = async () => false): Promise<boolean> {
  return (await conditionalWrite(write, async () => ((await isThere()) ? {} : undefined))) !== undefined;
}

/** Returns whether the SDK made a call more than once, as it does when an answer is lost: an earlier try may have taken effect. */
export function wasRepeated(result: unknown): boolean {
  const { $metadata } = result as { $metadata?: { attempts?: number } };
  return ($metadata?.attempts ?? 1) > 1;
}

/** Returns whether a dependency throttled us, failed or did not answer in time: the same request may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  const isConnectionBroken = error instanceof Error && 'code' in error && connectionErrors.includes(String(error.code));
  const isServerError = error instanceof Error && '$fault' in error && error.$fault === 'server';
  return isThrottled(error) || isNamed(error, ...timeoutErrors) || isConnectionBroken || isServerError;
}

/** Thrown when DynamoDB kept part of a batch back, which it does when it is throttling. */
export class UnprocessedKeysError extends Error {
  override readonly name = 'UnprocessedKeysError';
  constructor(table: string) {
    super('DynamoDB left keys of a batch unread.');
    noteFailedCall(this, { action: 'dynamodb:BatchGetItem', resourceType: 'table', table, throttled: [] });
  }
}

/** Thrown for a statement of a batch that DynamoDB did not run for now, or did not answer. */
export class StatementError extends Error {
  readonly $fault = 'server';

  /** @param name - DynamoDB's code of the statement */
  constructor(name: string, table: string) {
    super('DynamoDB did not run a statement of a batch.');
    this.name = name;
    const throttled = isThrottled(this) ? { throttled: [] } : {};
    noteFailedCall(this, { action: 'dynamodb:PartiQLInsert', resourceType: 'table', table, ...throttled });
  }
}

export interface ItemKey {
  readonly table: string;
  readonly key: Item;
}

/** Returns whether an item could have this key: DynamoDB answers an empty or over-long one with a failure, not with "none". */
export function isPossibleKey(key: Item): boolean {
  return Object.values(key).every(
    value => typeof value !== 'string' || (value !== '' && Buffer.byteLength(value) <= maxKey),
  );
}

/** Middleware of the SDK that nothing here needs: it describes the caller to AWS, anew for each call. */
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

/** Those of the SDK's own retries, and a refused connection. */
const connectionErrors = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'],
];

const timeoutErrors = ['TimeoutError', 'RequestTimeout', 'RequestTimeoutException', 'DependencyTimeoutException'];

/** DynamoDB takes keys from one byte on; a range key ends at 1,024. */
const maxKey = 1_024;
