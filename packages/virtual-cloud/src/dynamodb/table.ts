import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { type Attributes, sortText } from './attribute-values.ts';
import { notImplemented, validationError } from './errors.ts';
import { checkItemSize } from './item-size.ts';
import {
  checkIndexKey,
  checkItemKey,
  itemText,
  type KeySchema,
  keyText,
  keyValue,
  readKeySchema,
} from './key-schema.ts';
import { makeSecondaryIndex, type SecondaryIndex } from './secondary-index.ts';
import { type Entry, makeSortedPartitions, type Place, type SortedPartitions } from './sorted-partitions.ts';

/** What a table is made of, in the words of `CreateTable`. Other settings have no effect. */
export type TableDefinition = Pick<
  CreateTableCommandInput,
  'TableName' | 'KeySchema' | 'AttributeDefinitions' | 'GlobalSecondaryIndexes' | 'LocalSecondaryIndexes'
>;

/** What a query or a scan reads: a table or one of its indexes. */
export interface Source {
  readonly key: KeySchema;
  /** The attributes that stand in it. @default - all */
  readonly projected?: ReadonlySet<string> | undefined;
  /** The name of the index. @default - it is the table itself */
  readonly index?: string;
  readonly entries: () => SortedPartitions;
  readonly placeOf: (item: Attributes) => Place;
}

/** A table in memory, with its indexes. */
export type Table = ReturnType<typeof makeTable>;

/** Makes a table. @throws for a definition that DynamoDB would refuse, or with local indexes. */
export function makeTable(definition: TableDefinition, time: { now: () => number; lag: () => number }) {
  const { TableName: name = '', KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [] } = definition;
  if (definition.LocalSecondaryIndexes?.length) throw notImplemented('local secondary indexes');
  const key = readKeySchema(KeySchema, AttributeDefinitions);
  const indexes = new Map(
    GlobalSecondaryIndexes.map(index => {
      const own = readKeySchema(index.KeySchema, AttributeDefinitions);
      return [index.IndexName ?? '', makeSecondaryIndex({ definition: index, key: own, table: key, ...time })];
    }),
  );
  const stored = new Map<string, Entry>();
  const partitions = makeSortedPartitions();
  return { name, key, get, check, put, remove, source, items };

  /** Returns the item with a key, which was checked. */
  function get(keyed: Attributes): Attributes | undefined {
    return stored.get(itemText(key, keyed))?.item;
  }

  /**
   * Returns the size of an item in bytes.
   *
   * @throws ValidationException for one that is too large, or has no key or a value that no key of an index has.
   */
  function check(item: Attributes, tooLarge?: string): number {
    checkItemKey(key, item);
    for (const index of indexes.values()) checkIndexKey(index.name, index.key, item);
    return checkItemSize(item, tooLarge);
  }

  /** Stores an item that was checked, in place of one with the same key. */
  function put(item: Attributes, size: number): void {
    const entry = { ...placeOf(item), item, size };
    const text = itemText(key, item);
    stored.set(text, entry);
    partitions.put(entry);
    for (const index of indexes.values()) index.follow(text, item);
  }

  function remove(keyed: Attributes): void {
    const text = itemText(key, keyed);
    const entry = stored.get(text);
    if (!entry) return;
    stored.delete(text);
    partitions.remove(entry);
    for (const index of indexes.values()) index.follow(text, undefined);
  }

  /** Returns what is read. @throws ValidationException for an index that is not there, or cannot be read consistently. */
  function source(index: string | undefined, isConsistent = false): Source {
    if (index === undefined) return { key, entries: () => partitions, placeOf };
    const found: SecondaryIndex | undefined = indexes.get(index);
    if (!found) throw validationError(`The table does not have the specified index: ${index}`);
    if (isConsistent) {
      throw validationError('Consistent reads are not supported on global secondary indexes');
    }
    return { ...found, index };
  }

  /** Returns all items, in the order in which their keys were first written. */
  function items(): Attributes[] {
    return [...stored.values()].map(({ item }) => item);
  }

  function placeOf(item: Attributes): Place {
    return {
      partition: keyText(keyValue(item, key.hash)),
      order: key.range ? [sortText(keyValue(item, key.range))] : [],
    };
  }
}
