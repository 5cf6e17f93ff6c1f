/** Items of which the first can be had at once. */
export interface Heap<Item> {
  readonly size: () => number;
  readonly push: (item: Item) => void;
  readonly first: () => Item | undefined;
  /** Takes the first one out. */
  readonly shift: () => Item | undefined;
}

/** Makes a binary heap. Where items can be equal, their order is any: callers number them. */
export function makeHeap<Item extends object>(isBefore: (one: Item, other: Item) => boolean): Heap<Item> {
  const items: Item[] = [];
  return { size: () => items.length, first: () => items[0], push, shift };

  function push(item: Item): void {
    items.push(item);
    for (let child = items.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!swapIfBefore(child, parent)) return;
      child = parent;
    }
  }

  function shift(): Item | undefined {
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const child = swapIsDue(left + 1, left) ? left + 1 : left;
      if (!swapIfBefore(child, parent)) return first;
      parent = child;
    }
  }

  function swapIfBefore(child: number, parent: number): boolean {
    const [one, other] = [items[child], items[parent]];
    if (one === undefined || other === undefined || !isBefore(one, other)) return false;
    items[parent] = one;
    items[child] = other;
    return true;
  }

  function swapIsDue(child: number, parent: number): boolean {
    const [one, other] = [items[child], items[parent]];
    return one !== undefined && other !== undefined && isBefore(one, other);
  }
}
