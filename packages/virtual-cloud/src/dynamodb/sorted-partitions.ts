import type { Attributes } from './attribute-values.ts';

/** An item in its place. */
export interface Entry {
  /** The text of its partition's key. */
  readonly partition: string;
  /** The sort texts that give its place in the partition: of a range key, and in an index of its table's key. */
  readonly order: readonly string[];
  readonly item: Attributes;
  /** In bytes. */
  readonly size: number;
}

/** The place of an item, whether or not it stands there. */
export type Place = Pick<Entry, 'partition' | 'order'>;

/** Items by partition, and in each in their order. */
export type SortedPartitions = ReturnType<typeof makeSortedPartitions>;

/** Makes what keeps the items of a table or an index in their order. */
export function makeSortedPartitions() {
  const partitions = new Map<string, Entry[]>();
  let scanned: readonly Partition[] | undefined;
  return { put, remove, partition, after };

  /** Stores an item; one in the same place is replaced. */
  function put(entry: Entry): void {
    const entries = partitions.get(entry.partition);
    if (!entries) {
      partitions.set(entry.partition, [entry]);
      scanned = undefined;
      return;
    }
    const at = firstWhere(entries, each => compareOrders(each.order, entry.order) >= 0);
    entries.splice(at, isAt(entries[at], entry) ? 1 : 0, entry);
  }

  /** Removes what stands in a place. */
  function remove(place: Place): void {
    const entries = partition(place.partition);
    const at = firstWhere(entries, each => compareOrders(each.order, place.order) >= 0);
    if (!isAt(entries[at], place)) return;
    partitions.get(place.partition)?.splice(at, 1);
    if (entries.length > 0) return;
    partitions.delete(place.partition);
    scanned = undefined;
  }

  /** Returns the items of a partition, in order. */
  function partition(text: string): readonly Entry[] {
    return partitions.get(text) ?? [];
  }

  /** Yields all items after a place. Partitions come in the order of a digest of their keys, as good as none. */
  function* after(place?: Place): Generator<Entry> {
    scanned ??= [...partitions.keys()].map(text => ({ text, digest: digestOf(text) })).sort(comparePartitions);
    const from = place && { text: place.partition, digest: digestOf(place.partition) };
    const first = from ? firstWhere(scanned, each => comparePartitions(each, from) >= 0) : 0;
    for (const { text } of scanned.slice(first)) {
      const entries = partition(text);
      const isBegun = place !== undefined && text === place.partition;
      yield* isBegun ? entries.slice(firstWhere(entries, each => compareOrders(each.order, place.order) > 0)) : entries;
    }
  }
}

/** Returns the index of the first for which a test is true; all after it are. The length where there is none. */
export function firstWhere<Each>(sorted: readonly Each[], isReached: (each: Each) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { [middle]: each } = sorted;
    if (each !== undefined && isReached(each)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Compares the places of two items in a partition: negative, zero or positive. */
export function compareOrders(one: Entry['order'], other: Entry['order']): number {
  for (let at = 0; at < one.length; at++) {
    const left = one[at] ?? '';
    const right = other[at] ?? '';
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** A partition as a scan meets it. */
interface Partition {
  readonly text: string;
  readonly digest: number;
}

function isAt(entry: Entry | undefined, place: Place): boolean {
  return entry !== undefined && compareOrders(entry.order, place.order) === 0;
}

function comparePartitions(one: Partition, other: Partition): number {
  if (one.digest !== other.digest) return one.digest - other.digest;
  return one.text < other.text ? -1 : Number(one.text > other.text);
}

/** FNV-1a. */
function digestOf(text: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
  return digest >>> 0;
}
