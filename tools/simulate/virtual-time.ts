/** A simulated clock with scheduled actions. It jumps from one action to the next. Milliseconds. */
export interface VirtualTime {
  now(): number;
  /** Schedules an action, after those scheduled earlier for the same moment. */
  at(moment: number, act: () => void): void;
  /** Runs all actions scheduled until a moment. */
  runUntil(moment: number): void;
}

/** Makes a clock that starts at zero. The scheduled actions are a binary heap. */
export function makeVirtualTime(): VirtualTime {
  let present = 0;
  let planned = 0;
  const heap: { readonly moment: number; readonly order: number; readonly act: () => void }[] = [];

  const isBefore = (one: number, other: number): boolean => {
    const [a, b] = [heap[one], heap[other]];
    if (!a || !b) return false;
    return a.moment < b.moment || (a.moment === b.moment && a.order < b.order);
  };
  const swap = (one: number, other: number): void => {
    const [a, b] = [heap[one], heap[other]];
    if (!a || !b) return;
    heap[one] = b;
    heap[other] = a;
  };
  const rise = (start: number): void => {
    for (let child = start; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!isBefore(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  };
  const sink = (): void => {
    for (let parent = 0; ; ) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      const least = isBefore(right, left) ? right : left;
      if (!isBefore(least, parent)) return;
      swap(least, parent);
      parent = least;
    }
  };

  return {
    now: () => present,
    at: (moment, act) => {
      heap.push({ moment: Math.max(moment, present), order: planned++, act });
      rise(heap.length - 1);
    },
    runUntil: moment => {
      for (let first = heap[0]; first && first.moment <= moment; first = heap[0]) {
        const last = heap.pop();
        if (heap.length > 0 && last) {
          heap[0] = last;
          sink();
        }
        present = first.moment;
        first.act();
      }
      present = moment;
    },
  };
}
