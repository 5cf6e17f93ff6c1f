import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { type Attributes, itemSize } from './attribute-values.ts';
import { unsupported, validationError } from './errors.ts';
import { checkKey, checkKeyValue, type Key, keyValue, readKey } from './keys.ts';
import { compareOrders, type Entry, makeSortedItems, type SortedItems } from './sorted-items.ts';

/** The settings of `CreateTable` that the emulator uses. It ignores all others. */
export type TableDefinition = Pick<
  CreateTableCommandInput,
  'TableName' | 'KeySchema' | 'AttributeDefinitions' | 'GlobalSecondaryIndexes'
>;

/** The source of a query or scan: a table or an index. */
export interface Source {
  readonly key: Key;
  /** The key attributes of the index and of its table. */
  readonly names: readonly string[];
  readonly items: SortedItems;
}

/** An in-memory table and its indexes. */
export type Table = ReturnType<typeof makeTable>;

/**
 * Creates a table. Index reads and eventually consistent reads return a past state. `lag` returns its age in milliseconds,
 * at most 300.
 */
export function makeTable(definition: TableDefinition, now: () => number, lag: () => number) {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [] } = definition;
  const key = readKey(KeySchema, AttributeDefinitions);
  const items = makeSortedItems(key);
  const primary: View = { key, names: namesOf(key), items, entryOf: entryInTable };
  const indexes = new Map(GlobalSecondaryIndexes.map(index => [index.IndexName, makeIndex(index)]));
  /** The most recent writes, oldest first. */
  const recent: Write[] = [];
  return { key, get, read, check, put, remove, source, items: () => items.all().map(({ item }) => item) };

  /** Creates a global secondary index. Items with equal index keys are ordered by the table's key. */
  function makeIndex({ KeySchema: schema, Projection }: GlobalSecondaryIndex): View {
    if (Projection?.ProjectionType !== 'KEYS_ONLY')
      throw unsupported('indexes that project attributes other than keys');
    const indexKey = readKey(schema, AttributeDefinitions);
    const names = [...new Set([...namesOf(indexKey), ...namesOf(key)])];
    const indexed = makeSortedItems([...indexKey, ...key]);
    return { key: indexKey, names, items: indexed, entryOf };

    function entryOf(tableItem: Attributes): Entry | undefined {
      const entries = names.flatMap(name => (tableItem[name] ? [[name, tableItem[name]] as const] : []));
      if (entries.length < names.length) return undefined;
      const item = Object.fromEntries(entries);
      return { order: indexed.orderOf(item), item, size: itemSize(item) };
    }
  }

  function entryInTable(item: Attributes): Entry {
    return { order: items.orderOf(item), item, size: itemSize(item) };
  }

  /** Returns the item with this key, if it exists. @throws {ServiceError} if the key does not match the schema of the table */
  function get(keyAttributes: Attributes): Attributes | undefined {
    checkKey(key, keyAttributes);
    if (Object.keys(keyAttributes).length === key.length) return items.get(items.orderOf(keyAttributes));
    throw validationError('The provided key element does not match the schema');
  }

  /** Returns the item with this key. The read is eventually consistent by default. @throws {ServiceError} like `get` */
  function read(keyAttributes: Attributes, isConsistent = false): Attributes | undefined {
    const item = get(keyAttributes);
    const [first] = isConsistent ? [] : unseen(items.orderOf(keyAttributes).join('\n'));
    return first ? first.before : item;
  }

  /** Returns the writes to one item, or to all items, that an eventually consistent read does not see yet. */
  function unseen(onlyPosition?: string): readonly Write[] {
    const seenUntil = new Map<string, number>();
    return recent.filter(({ at, position }) => {
      if (onlyPosition !== undefined && position !== onlyPosition) return false;
      const until = seenUntil.get(position) ?? now() - lag();
      seenUntil.set(position, until);
      return at > until;
    });
  }

  /** Returns the items of a partition as an eventually consistent read returns them. */
  function stalePartition({ key: viewKey, items: current, entryOf }: View, text = ''): readonly Entry[] {
    const undone = unseen().map(({ before, after }) => [after && entryOf(after), before && entryOf(before)] as const);
    const isInPartition = (entry: Entry | undefined) => entry?.order[0] === text;
    const affected = undone.filter(entries => entries.some(isInPartition));
    if (affected.length === 0) return current.partition(text);
    const earlier = makeSortedItems(viewKey);
    for (const entry of current.partition(text)) earlier.put(entry);
    for (const [from, to] of affected.toReversed()) replace(earlier, from, to);
    return earlier.partition(text);
  }

  /** Checks an item. @throws {ServiceError} if it is too large, lacks a key attribute, or has an invalid key value */
  function check(item: Attributes): void {
    checkKey(key, item);
    for (const attribute of [...indexes.values()].flatMap(index => index.key)) {
      if (item[attribute.name]) checkKeyValue(attribute, keyValue(item, attribute));
    }
    if (itemSize(item) > maxItemSize) throw validationError('Item size has exceeded the maximum allowed size');
  }

  /** Stores an item. @throws {ServiceError} like `check` */
  function put(item: Attributes): void {
    check(item);
    write(items.get(items.orderOf(item)), item);
  }

  /** Removes the item with a key, if it exists. */
  function remove(keyAttributes: Attributes): void {
    const before = get(keyAttributes);
    if (before) write(before, undefined);
  }

  function write(before: Attributes | undefined, after: Attributes | undefined): void {
    while (recent[0] && recent[0].at <= now() - maxLag) recent.shift();
    recent.push({ at: now(), position: items.orderOf(after ?? before ?? {}).join('\n'), before, after });
    replace(items, before && entryInTable(before), after && entryInTable(after));
    for (const { names, items: indexed, entryOf } of indexes.values()) {
      if (before && after && names.every(name => before[name] === after[name])) continue; // the update did not change the index entry
      replace(indexed, before && entryOf(before), after && entryOf(after));
    }
  }

  /** Returns the source of a read. @throws {ServiceError} if the index does not exist, or the request is a strongly consistent read of an index */
  function source(name: string | undefined, isConsistent = false): Source {
    const view = name === undefined ? primary : indexes.get(name);
    if (!view) throw validationError(`The table does not have the specified index: ${name}`);
    if (!isConsistent) return { ...view, items: { ...view.items, partition: text => stalePartition(view, text) } };
    if (view === primary) return primary;
    throw validationError('Consistent reads are not supported on global secondary indexes');
  }
}

/** A table or an index. */
interface View extends Source {
  /** Returns the entry of an item, or `undefined` if the item lacks a key attribute of the index. */
  readonly entryOf: (item: Attributes) => Entry | undefined;
}

/** A write to the item at a position in the table. */
interface Write {
  readonly at: number;
  readonly position: string;
  readonly before: Attributes | undefined;
  readonly after: Attributes | undefined;
}

function replace(items: SortedItems, from: Entry | undefined, to: Entry | undefined): void {
  if (from && !(to && compareOrders(from.order, to.order) === 0)) items.remove(from.order);
  if (to) items.put(to);
}

function namesOf(key: Key): readonly string[] {
  return key.map(({ name }) => name);
}

/** The maximum lag in milliseconds. */
const maxLag = 300;

/** The maximum size of an item in bytes. */
const maxItemSize = 400 * 1_024;
