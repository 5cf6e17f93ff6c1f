import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { clientSettings } from './client-settings.ts';

/** A DynamoDB item as the document client reads and writes it. */
export type Item = Record<string, unknown>;

/** The document client all stores share. */
export function makeDynamo(): DynamoDBDocumentClient {
  const client = new DynamoDBClient(clientSettings);
  for (const step of idleSteps) client.middlewareStack.remove(step);
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Whether a write was refused because its condition did not hold. */
export function isConditionFailed(error: unknown): boolean {
  return isNamed(error, 'ConditionalCheckFailedException');
}

/** Gives the answer to a conditional write; `undefined` where its condition did not hold. */
export async function conditionalWrite<Output>(write: Promise<Output>): Promise<Output | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isConditionFailed(error)) return undefined;
    throw error;
  }
}

/** Whether the SDK made a call more than once, as it does where an answer is missing: an earlier try may have had its effect. */
export function wasRepeated(error: unknown): boolean {
  const { $metadata } = error as { $metadata?: { attempts?: number } };
  return ($metadata?.attempts ?? 1) > 1;
}

/** Whether a dependency (DynamoDB, KMS, SQS) asked us to slow down: the caller may try again in a moment. */
export function isThrottled(error: unknown): boolean {
  return isNamed(
    error,
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'ThrottledException',
    'RequestLimitExceeded',
    'LimitExceededException',
    'RequestThrottled',
    'UnprocessedKeysError',
  );
}

/** Whether a dependency throttled us, failed or did not answer in time: the same request may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  const isCutOff = error instanceof Error && 'code' in error && brokenConnections.includes(String(error.code));
  const isItsOwn = error instanceof Error && '$fault' in error && error.$fault === 'server';
  return isThrottled(error) || isNamed(error, ...unanswered) || isCutOff || isItsOwn;
}

/** Thrown when DynamoDB kept part of a batch back, which it does when it is throttling. */
export class UnprocessedKeysError extends Error {
  override readonly name = 'UnprocessedKeysError';
  constructor() {
    super('DynamoDB left keys of a batch unread.');
  }
}

/** One item of a consistent batch read. */
export interface ItemKey {
  readonly table: string;
  readonly key: Item;
}

/** Items that one BatchGetItem reads at most. */
export const batchGetLimit = 100;

/** Whether an item could have this key: DynamoDB answers an empty or over-long one with a failure, not with "none". */
export function isPossibleKey(key: Item): boolean {
  return Object.values(key).every(
    value => typeof value !== 'string' || (value !== '' && Buffer.byteLength(value) <= longestKey),
  );
}

/**
 * Reads up to 100 items of any tables in one round trip, consistently, and gives them in the order asked for
 * (`undefined` where there is none, or can be none).
 *
 * @throws {UnprocessedKeysError} when DynamoDB still keeps keys back after three tries.
 */
export async function readTogether(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  addresses: readonly ItemKey[],
): Promise<(Item | undefined)[]> {
  const found = await readPlaces(dynamo, byPlace(addresses), 3);
  return addresses.map(address => itemAt(found, address));
}

/** The keys of records to read, by the names the records are to have; a name without a key is not read. */
export type Reads<Name extends string> = Record<Name, ItemKey | undefined>;

/** Records by name, as they were read. */
export type Records<Name extends string> = Record<Name, Item | undefined>;

/**
 * Reads named records of any tables in one round trip, consistently.
 *
 * @throws {UnprocessedKeysError} as `readTogether` does.
 */
export async function readRecords<Name extends string>(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  reads: Reads<Name>,
): Promise<Records<Name>> {
  const wanted = Object.entries<ItemKey | undefined>(reads).flatMap(([name, key]) => (key ? [{ name, key }] : []));
  const items = await readTogether(
    dynamo,
    wanted.map(({ key }) => key),
  );
  return Object.fromEntries(wanted.map(({ name }, position) => [name, items[position]])) as Records<Name>;
}

/** An item's place: table and key as one text. */
export function placeOf({ table, key }: ItemKey): string {
  const parts = Object.entries(key).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([table, ...parts]);
}

/** Addresses by place: each once. */
export function byPlace(addresses: readonly ItemKey[]): Map<string, ItemKey> {
  return new Map(addresses.map(address => [placeOf(address), address]));
}

/** Reads what is at some places, in so many tries at most. Places that DynamoDB kept back are missing from the answer. */
export async function readPlaces(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  wanted: ReadonlyMap<string, ItemKey>,
  tries: number,
): Promise<Map<string, Item | undefined>> {
  const possible = [...wanted].filter(([, { key }]) => isPossibleKey(key));
  const keyNames = new Map(possible.map(([, { table, key }]) => [table, Object.keys(key)]));
  const found = new Map<string, Item | undefined>([...wanted.keys()].map(place => [place, undefined]));

  let pending = requestOf(possible.map(([, address]) => address));
  for (let attempt = 0; attempt < tries && Object.keys(pending).length > 0; attempt++) {
    const answer: BatchGetCommandOutput = await dynamo.send(new BatchGetCommand({ RequestItems: pending }));
    for (const [table, items] of Object.entries(answer.Responses ?? {})) {
      const names = keyNames.get(table) ?? [];
      for (const item of items) {
        const key = Object.fromEntries(names.map(name => [name, item[name]]));
        found.set(placeOf({ table, key }), item);
      }
    }
    pending = answer.UnprocessedKeys ?? {};
  }
  for (const [table, { Keys = [] }] of Object.entries(pending)) {
    for (const key of Keys) found.delete(placeOf({ table, key }));
  }
  return found;
}

/**
 * The item at an address, of those that were read.
 *
 * @throws {UnprocessedKeysError} when it was not read.
 */
export function itemAt(found: ReadonlyMap<string, Item | undefined>, address: ItemKey): Item | undefined {
  const place = placeOf(address);
  if (!found.has(place)) throw new UnprocessedKeysError();
  return found.get(place);
}

/** Steps of the SDK's that nothing here needs, at a sixth of what a call costs: DynamoDB is no part of any loop. */
const idleSteps = ['getUserAgentMiddleware', 'recursionDetectionMiddleware'];

function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

const brokenConnections = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

const unanswered = ['TimeoutError', 'RequestTimeout', 'RequestTimeoutException', 'DependencyTimeoutException'];

/** DynamoDB takes keys from one byte on; a range key ends at 1,024. */
const longestKey = 1_024;

function requestOf(addresses: readonly ItemKey[]): NonNullable<BatchGetCommandInput['RequestItems']> {
  const keys = Map.groupBy(addresses, ({ table }) => table);
  return Object.fromEntries(
    [...keys].map(([table, own]) => [table, { ConsistentRead: true, Keys: own.map(({ key }) => key) }]),
  );
}
