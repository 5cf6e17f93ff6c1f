/** Creates a binary heap. The order of equal items is undefined, so callers number their items. */
export function makeHeap<Item extends object>(isBefore: (one: Item, other: Item) => boolean) {
  const items: Item[] = [];
  return { first: (): Item | undefined => items[0], push, shift };

  function push(item: Item): void {
    items.push(item);
    for (let child = items.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!swapIfBefore(child, parent)) return;
      child = parent;
    }
  }

  /** Removes and returns the first item. */
  function shift(): Item | undefined {
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const [one, other] = [items[left], items[left + 1]];
      const child = one && other && isBefore(other, one) ? left + 1 : left;
      if (!swapIfBefore(child, parent)) return first;
      parent = child;
    }
  }

  function swapIfBefore(child: number, parent: number): boolean {
    const [one, other] = [items[child], items[parent]];
    if (!one || !other || !isBefore(one, other)) return false;
    items[parent] = one;
    items[child] = other;
    return true;
  }
}
