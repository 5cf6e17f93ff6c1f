import type { AttributeValue, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';
import { type Attributes, sortText } from './attribute-values.ts';
import { itemSize } from './item-size.ts';
import { type KeySchema, keyText, keyValue } from './key-schema.ts';
import {
  type Entry,
  firstWhere,
  makeSortedPartitions,
  type Place,
  type SortedPartitions,
} from './sorted-partitions.ts';

/** A global secondary index, which sees the writes of its table some time after them. */
export interface SecondaryIndex {
  readonly name: string;
  readonly key: KeySchema;
  /** The attributes that stand in it. @default - all */
  readonly projected?: ReadonlySet<string> | undefined;
  /** Returns its entries, as it has them now. */
  readonly entries: () => SortedPartitions;
  /** Returns the place of an item that has its key. */
  readonly placeOf: (item: Attributes) => Place;
  /** Learns what a write leaves of an item; `undefined` where it is gone. */
  readonly follow: (text: string, item: Attributes | undefined) => void;
}

/** Makes an index of a table. `lag` is asked for each write. Writes of one item are seen in their order. */
export function makeSecondaryIndex({
  definition,
  key,
  table,
  now,
  lag,
}: {
  readonly definition: GlobalSecondaryIndex;
  readonly key: KeySchema;
  /** The key of the table. */
  readonly table: KeySchema;
  readonly now: () => number;
  readonly lag: () => number;
}): SecondaryIndex {
  const { IndexName: name = '', Projection: { ProjectionType, NonKeyAttributes = [] } = {} } = definition;
  const keyNames = [...table.attributes, ...key.attributes].map(attribute => attribute.name);
  const projected = ProjectionType === 'ALL' ? undefined : new Set([...keyNames, ...NonKeyAttributes]);
  const partitions = makeSortedPartitions();
  const stored = new Map<string, Entry>();
  let pending: Pending[] = [];
  /** When the last write of an item will be seen, while that is to come. */
  const latest = new Map<string, number>();
  return { name, key, projected, entries, placeOf, follow };

  function entries(): SortedPartitions {
    settle();
    return partitions;
  }

  function follow(text: string, item: Attributes | undefined): void {
    settle();
    const dueAt = Math.max(now() + lag(), latest.get(text) ?? 0);
    if (dueAt <= now()) apply(text, item);
    else wait({ dueAt, text, item });
  }

  function wait(write: Pending): void {
    latest.set(write.text, write.dueAt);
    const at = firstWhere(pending, each => each.dueAt > write.dueAt);
    pending.splice(at, 0, write);
  }

  function settle(): void {
    if (pending.length === 0) return;
    const due = firstWhere(pending, each => each.dueAt > now());
    for (const { dueAt, text, item } of pending.slice(0, due)) {
      apply(text, item);
      if (latest.get(text) === dueAt) latest.delete(text);
    }
    pending = pending.slice(due);
  }

  function apply(text: string, item: Attributes | undefined): void {
    const before = stored.get(text);
    const kept = item && isIn(item) ? projection(item) : undefined;
    if (before && kept && isUnchanged(before.item, kept)) return;
    if (before) partitions.remove(before);
    if (!kept) {
      stored.delete(text);
      return;
    }
    const entry = { ...placeOf(kept), item: kept, size: itemSize(kept) };
    stored.set(text, entry);
    partitions.put(entry);
  }

  /** An index has only the items that have its key. */
  function isIn(item: Attributes): boolean {
    return key.attributes.every(attribute => item[attribute.name] !== undefined);
  }

  function projection(item: Attributes): Attributes {
    if (!projected) return item;
    const kept: Record<string, AttributeValue> = {};
    for (const attribute of projected) {
      const { [attribute]: value } = item;
      if (value) kept[attribute] = value;
    }
    return kept;
  }

  function placeOf(item: Attributes): Place {
    const own = key.range ? [key.range] : [];
    // Where the index's own keys are equal, those of the table decide.
    const order = [...own, ...table.attributes].map(attribute => sortText(keyValue(item, attribute)));
    return { partition: keyText(keyValue(item, key.hash)), order };
  }
}

/** A write that an index will see. */
interface Pending {
  readonly dueAt: number;
  readonly text: string;
  readonly item: Attributes | undefined;
}

/** An update leaves the values as they are that it does not set. */
function isUnchanged(before: Attributes, after: Attributes): boolean {
  const names = Object.keys(after);
  return names.length === Object.keys(before).length && names.every(name => before[name] === after[name]);
}
