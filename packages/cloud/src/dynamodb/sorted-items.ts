import { firstIndexWhere } from '../sorted.ts';
import { type Attributes, compareTexts, sortText } from './attribute-values.ts';
import { type Key, keyValue } from './keys.ts';

/** An item and its sort position. */
export interface Entry {
  /** The sort texts of the partition key and the sort key. */
  readonly order: readonly string[];
  readonly item: Attributes;
  /** The size in bytes. */
  readonly size: number;
}

/** The items of a table or an index, in sort order. */
export type SortedItems = ReturnType<typeof makeSortedItems>;

/** Creates an empty collection of items, ordered by key. */
export function makeSortedItems(key: Key) {
  const partitions = new Map<string, Entry[]>();
  return { orderOf, get, put, remove, partition, all };

  function orderOf(item: Attributes): Entry['order'] {
    return key.map(attribute => sortText(keyValue(item, attribute)));
  }

  function get(order: Entry['order']): Attributes | undefined {
    const entries = partition(order[0]);
    const entry = entries[indexIn(entries, order)];
    return isAt(entry, order) ? entry?.item : undefined;
  }

  /** Adds an item, or replaces the item with the same key. */
  function put(entry: Entry): void {
    const [text = ''] = entry.order;
    const entries = partitions.get(text) ?? [];
    partitions.set(text, entries);
    const at = indexIn(entries, entry.order);
    if (isAt(entries[at], entry.order)) entries[at] = entry;
    else entries.splice(at, 0, entry);
  }

  function remove(order: Entry['order']): void {
    const entries = partitions.get(order[0] ?? '') ?? [];
    const at = indexIn(entries, order);
    if (isAt(entries[at], order)) entries.splice(at, 1);
  }

  /** Returns the items of the partition with this sort text. */
  function partition(text = ''): readonly Entry[] {
    return partitions.get(text) ?? [];
  }

  /** Returns all items, ordered by partition. */
  function all(): readonly Entry[] {
    return [...partitions.keys()].sort(compareTexts).flatMap(text => partition(text));
  }
}

/** Compares the positions of two items. Returns a negative number, 0 or a positive number. */
export function compareOrders(one: Entry['order'], other: Entry['order']): number {
  for (let at = 0; at < one.length; at++) {
    const order = compareTexts(one[at], other[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function indexIn(entries: readonly Entry[], order: Entry['order']): number {
  return firstIndexWhere(entries, each => compareOrders(each.order, order) >= 0);
}

function isAt(entry: Entry | undefined, order: Entry['order']): boolean {
  return entry !== undefined && compareOrders(entry.order, order) === 0;
}
