import { BatchGetCommand, type BatchGetCommandInput, type BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { chunksOf } from '../in-batches.ts';
import { type Dynamo, type Item, type ItemKey, isPossibleKey, UnprocessedKeysError } from './dynamo.ts';

/** The maximum number of items per BatchGetItem call. */
export const batchGetLimit = 100;

/**
 * Reads items from any tables with strongly consistent reads, in parallel calls of up to 100 keys. Returns the items in the order of the
 * keys, with `undefined` if an item does not exist or its key is invalid.
 *
 * @throws {UnprocessedKeysError} if keys remain unprocessed after three calls.
 */
export async function batchGet(dynamo: Dynamo, keys: readonly ItemKey[]): Promise<(Item | undefined)[]> {
  const calls = startCalls(keys, part => getItems(dynamo, part, 3));
  return Promise.all(keys.map(key => itemOf(calls, key)));
}

/** The keys of the records to read, by record name. A record without a key is not read. */
export type RecordKeys<Name extends string> = Record<Name, ItemKey | undefined>;

export type Records<Name extends string> = Record<Name, Item | undefined>;

/** Reads records from any tables like `batchGet`, in one round trip. @throws {UnprocessedKeysError} */
export async function readRecords<Name extends string>(dynamo: Dynamo, keys: RecordKeys<Name>): Promise<Records<Name>> {
  const requested = Object.entries<ItemKey | undefined>(keys).flatMap(([name, key]) => (key ? [{ name, key }] : []));
  const items = await batchGet(
    dynamo,
    requested.map(({ key }) => key),
  );
  return Object.fromEntries(requested.map(({ name }, position) => [name, items[position]])) as Records<Name>;
}

/** Reads items with strong consistency. Returns the items in the order of the keys, with `undefined` for an item that does not exist. */
export type ReadItems = (keys: readonly ItemKey[]) => Promise<(Item | undefined)[]>;

/**
 * Creates a reader that batches its calls like a data loader. One BatchGetItem reads up to 100 keys that are requested in one turn of the
 * event loop, each key once. More keys are read in parallel calls. The reader has no cache. A read throws `UnprocessedKeysError` if one of
 * its keys remains unprocessed after two calls.
 */
export function makeBatchedReads(dynamo: Dynamo): ReadItems {
  let requested: ItemKey[] = [];
  let nextCalls: Promise<Calls> | undefined;

  return async function readItems(keys) {
    requested.push(...keys);
    nextCalls ??= gather();
    const calls = await nextCalls;
    return Promise.all(keys.map(key => itemOf(calls, key)));
  };

  async function gather(): Promise<Calls> {
    await Promise.resolve();
    const keys = requested;
    requested = [];
    nextCalls = undefined;
    return startCalls(keys, part => getItems(dynamo, part, 2)); // two calls are enough, because SQS redelivers the message
  }
}

/** The call that reads each key. */
type Calls = ReadonlyMap<string, Promise<FoundItems>>;

/** The items by serialized key. Unprocessed keys are missing. */
type FoundItems = ReadonlyMap<string, Item | undefined>;

/** Starts the calls that read these keys, each key once. */
function startCalls(
  keys: readonly ItemKey[],
  read: (part: ReadonlyMap<string, ItemKey>) => Promise<FoundItems>,
): Calls {
  const unique = new Map(keys.map(key => [serializeKey(key), key]));
  return new Map(
    chunksOf([...unique], batchGetLimit).flatMap(part => {
      const call = read(new Map(part));
      return part.map(([serialized]) => [serialized, call] as const);
    }),
  );
}

function serializeKey({ table, key }: ItemKey): string {
  const parts = Object.entries(key).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([table, ...parts]);
}

/** Reads keys in at most `maxCalls` calls. */
async function getItems(dynamo: Dynamo, keys: ReadonlyMap<string, ItemKey>, maxCalls: number): Promise<FoundItems> {
  const possible = [...keys.values()].filter(({ key }) => isPossibleKey(key));
  const keyNames = new Map(possible.map(({ table, key }) => [table, Object.keys(key)]));
  const found = new Map<string, Item | undefined>([...keys.keys()].map(serialized => [serialized, undefined]));

  let pending = toRequestItems(possible);
  for (let call = 0; call < maxCalls && Object.keys(pending).length > 0; call++) {
    const output: BatchGetCommandOutput = await dynamo(new BatchGetCommand({ RequestItems: pending }));
    for (const [table, items] of Object.entries(output.Responses ?? {})) {
      const names = keyNames.get(table) ?? [];
      for (const item of items) {
        const key = Object.fromEntries(names.map(name => [name, item[name]]));
        found.set(serializeKey({ table, key }), item);
      }
    }
    pending = output.UnprocessedKeys ?? {};
  }
  for (const [table, { Keys = [] }] of Object.entries(pending)) {
    for (const key of Keys) found.delete(serializeKey({ table, key }));
  }
  return found;
}

function toRequestItems(keys: readonly ItemKey[]): NonNullable<BatchGetCommandInput['RequestItems']> {
  const byTable = Map.groupBy(keys, ({ table }) => table);
  return Object.fromEntries(
    [...byTable].map(([table, own]) => [table, { ConsistentRead: true, Keys: own.map(({ key }) => key) }]),
  );
}

/** Returns the item of a key. @throws {UnprocessedKeysError} if the key remained unprocessed. */
async function itemOf(calls: Calls, key: ItemKey): Promise<Item | undefined> {
  const serialized = serializeKey(key);
  const items = await calls.get(serialized);
  if (!items?.has(serialized)) throw new UnprocessedKeysError(key.table);
  return items.get(serialized);
}
