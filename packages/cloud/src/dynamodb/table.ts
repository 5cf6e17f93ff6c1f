import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { insertSorted } from '../sorted.ts';
import { type Attributes, itemSize } from './attribute-values.ts';
import { checkKey, checkKeyValue, type Key, keyValue, readKey } from './keys.ts';
import { notKnown, validationError } from './refusals.ts';
import { compareOrders, type Entry, makeSortedItems, type SortedItems } from './sorted-items.ts';

/** What a table is made of, in the words of `CreateTable`. Other settings have no effect. */
export type TableDefinition = Pick<
  CreateTableCommandInput,
  'TableName' | 'KeySchema' | 'AttributeDefinitions' | 'GlobalSecondaryIndexes'
>;

/** What a query reads. */
export interface Source {
  readonly key: Key;
  /** The attributes of its key, and of the table's. */
  readonly names: readonly string[];
  readonly items: () => SortedItems;
}

/** A table in memory, with its indexes. */
export type Table = ReturnType<typeof makeTable>;

/** Makes a table. `lag` says after how many milliseconds an index sees a write, `readLag` how old a reading is that need not be consistent. */
export function makeTable(definition: TableDefinition, now: () => number, lag: () => number, readLag: () => number) {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [] } = definition;
  const key = readKey(KeySchema, AttributeDefinitions);
  const items = makeSortedItems(key);
  const own: Source = { key, names: namesOf(key), items: () => items };
  /** The writes of the last moments, the oldest first, each with what it has replaced. */
  const recent: { readonly at: number; readonly order: readonly string[]; readonly before: Attributes | undefined }[] =
    [];
  const indexes = new Map(GlobalSecondaryIndexes.map(index => [index.IndexName, indexOf(index)]));
  return { key, get, read, check, put, remove, source, items: () => items.all().map(({ item }) => item) };

  function indexOf({ KeySchema: schema, Projection }: GlobalSecondaryIndex) {
    if (Projection?.ProjectionType !== 'KEYS_ONLY') throw notKnown('indexes that hold more than keys');
    return makeIndex(readKey(schema, AttributeDefinitions), key, now, lag);
  }

  /** Returns the item with a key. @throws {ServiceError} for what is no key of this table. */
  function get(keyed: Attributes): Attributes | undefined {
    checkKey(key, keyed);
    if (Object.keys(keyed).length === key.length) return items.get(items.orderOf(keyed));
    throw validationError('The provided key element does not match the schema');
  }

  /** Returns the item with a key as a reading finds it. @throws {ServiceError} as `get`. */
  function read(keyed: Attributes, isConsistent = false): Attributes | undefined {
    const item = get(keyed);
    const missed = isConsistent ? [] : missedBy(items.orderOf(keyed));
    return missed.length > 0 ? missed[0]?.before : item;
  }

  /** Returns the writes of an item, or of a whole partition, that a reading misses which need not be consistent. */
  function missedBy(order: readonly string[]) {
    const seenUntil = now() - readLag();
    return recent.filter(({ at, order: own }) => at > seenUntil && order.every((text, place) => own[place] === text));
  }

  /** Returns the items of a partition as such a reading finds them. */
  function earlierPartition(text = ''): readonly Entry[] {
    const earlier = makeSortedItems(key);
    for (const entry of items.partition(text)) earlier.put(entry);
    for (const { order, before } of missedBy([text]).toReversed()) {
      if (before) earlier.put({ order, item: before, size: itemSize(before) });
      else earlier.remove(order);
    }
    return earlier.partition(text);
  }

  /** Notes a write, for its indexes and for readings that miss it. */
  function follow(order: readonly string[], before: Attributes | undefined, after: Attributes | undefined): void {
    while (recent[0] && recent[0].at <= now() - longestReadLag) recent.shift();
    recent.push({ at: now(), order, before });
    for (const index of indexes.values()) index.follow(order, before, after);
  }

  /** Returns the size of an item. @throws {ServiceError} where it is too large, lacks a key, or has a value that no key has. */
  function check(item: Attributes): number {
    checkKey(key, item);
    for (const index of indexes.values()) index.check(item);
    const size = itemSize(item);
    if (size > largestItem) throw validationError('Item size has exceeded the maximum allowed size');
    return size;
  }

  /** Stores an item. @throws {ServiceError} as `check`. */
  function put(item: Attributes): void {
    const size = check(item);
    const order = items.orderOf(item);
    const before = items.get(order);
    items.put({ order, item, size });
    follow(order, before, item);
  }

  /** Removes the item with a key, if there is one. */
  function remove(keyed: Attributes): void {
    const before = get(keyed);
    if (!before) return;
    const order = items.orderOf(keyed);
    items.remove(order);
    follow(order, before, undefined);
  }

  /** Returns what is read. @throws {ServiceError} for an index that is not there, or cannot be read consistently. */
  function source(name: string | undefined, isConsistent = false): Source {
    if (name === undefined)
      return isConsistent ? own : { ...own, items: () => ({ ...items, partition: earlierPartition }) };
    const index = indexes.get(name);
    if (!index) throw validationError(`The table does not have the specified index: ${name}`);
    if (isConsistent) throw validationError('Consistent reads are not supported on global secondary indexes');
    return index;
  }
}

/** Milliseconds. */
const longestReadLag = 300;

/** In bytes. */
const largestItem = 400 * 1_024;

/** Makes a global secondary index of keys. It sees the writes of one item in their order. */
function makeIndex(key: Key, tableKey: Key, now: () => number, lag: () => number) {
  const items = makeSortedItems([...key, ...tableKey]); // where the index's own keys are equal, those of the table decide
  const names = [...new Set([...namesOf(key), ...namesOf(tableKey)])];
  const pending: { readonly dueAt: number; readonly apply: () => void }[] = [];
  /** When an index sees the latest write of an item, by its place in the table. */
  const latest = new Map<string, number>();
  return { key, names, items: seen, check, follow };

  function seen(): SortedItems {
    while (pending[0] && pending[0].dueAt <= now()) pending.shift()?.apply();
    return items;
  }

  /** @throws {ServiceError} for an item that has an attribute of the key with a value that no key has. */
  function check(item: Attributes): void {
    for (const attribute of key) if (item[attribute.name]) checkKeyValue(attribute, keyValue(item, attribute));
  }

  function follow(order: readonly string[], before: Attributes | undefined, after: Attributes | undefined): void {
    if (before && after && key.every(({ name }) => before[name] === after[name])) return; // an update left them as they were
    seen();
    const [old, next] = [before && placeOf(before), after && placeOf(after)];
    if (old && next ? compareOrders(old, next) === 0 : old === next) return;
    const text = order.join('\n');
    const dueAt = Math.max(now() + lag(), latest.get(text) ?? 0);
    latest.set(text, dueAt);
    insertSorted(pending, { dueAt, apply }, (one, other) => one.dueAt < other.dueAt);

    function apply(): void {
      if (latest.get(text) === dueAt) latest.delete(text);
      if (old) items.remove(old);
      if (!next || !after) return;
      const item = Object.fromEntries(Object.entries(after).filter(([name]) => names.includes(name)));
      items.put({ order: next, item, size: itemSize(item) });
    }
  }

  /** An index has only the items that have its key. */
  function placeOf(item: Attributes): readonly string[] | undefined {
    return key.every(({ name }) => item[name]) ? items.orderOf(item) : undefined;
  }
}

function namesOf(key: Key): readonly string[] {
  return key.map(({ name }) => name);
}
